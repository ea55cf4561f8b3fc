// The same bytes to danted, microsocks, 3proxy and ours: where what a client sees differs, it differs as written here, and why.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import { findProgram, needs } from '../helpers/programs.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { type Ports, play, type Script, scripts } from './scripts.js';
import { type ComparedServer, start3proxy, startDanted, startMicrosocks, startOurs } from './servers.js';

interface Difference {
  readonly theirs: string;
  readonly why: string;
}

const LOGS_IN = 'method 02, login 00, ';
const SERVES_SOCKS4: Difference = {
  theirs: 'method 5b',
  why: 'it serves SOCKS4 too and refuses in its words; ours serves SOCKS5 alone here',
};
const NAME_IS_ADDRESS =
  'a name that some resolvers read as an address would slip past rules for names and addresses: we refuse it';
const UNSET_FAILURE = 'RFC 1929 §2 makes every status but 0 a failure; ours is 1, as in most servers';

const MICROSOCKS: Readonly<Record<string, Difference>> = {
  'logs in with a wrong password': { theirs: 'method 02, login 02, closed', why: UNSET_FAILURE },
  'logs in as nobody': { theirs: 'method 02, login 02, closed', why: UNSET_FAILURE },
  'logs in with the beginning of the password': { theirs: 'method 02, login 02, closed', why: UNSET_FAILURE },
  'logs in with a zero byte behind the password': {
    theirs: 'method 02, login 00, silent',
    why: 'it compares C strings, which end at the zero byte; we compare all bytes',
  },
  'connects to an octal address written as a name': {
    theirs: `${LOGS_IN}reply 00, silent`,
    why: NAME_IS_ADDRESS,
  },
  'connects to a number written as a name': { theirs: `${LOGS_IN}reply 00, silent`, why: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { theirs: `${LOGS_IN}reply 00, silent`, why: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    theirs: `${LOGS_IN}reply 00, silent`,
    why: 'the system takes it for loopback, which would be a way around rules for loopback: we refuse it',
  },
  'connects to an empty name': {
    theirs: `${LOGS_IN}reply 01, closed`,
    why: 'resolvers take it for loopback or nothing; we call it a rule, not a failure of ours',
  },
  'connects to a name that does not exist': {
    theirs: `${LOGS_IN}reply 01, closed`,
    why: 'RFC 1928 §6 has "host unreachable" for it, which tells the player more',
  },
  'asks with RSV 1': {
    theirs: `${LOGS_IN}reply 01, closed`,
    why: 'RFC 1928 §4 has RSV 00, but old clients send others and lose nothing by it: we pass it over, as danted does',
  },
  'says everything in one packet': {
    theirs: 'method 02, silent',
    why: 'it reads one message a packet; TCP promises no packets, and clients do save round trips',
  },
};

const DANTED: Readonly<Record<string, Difference>> = {
  'offers no login': {
    theirs: 'method 00, silent',
    why: 'it runs without logins here: its users are those of the system',
  },
  'speaks SOCKS4': SERVES_SOCKS4,
  'speaks HTTP': {
    theirs: 'closed',
    why: 'it closes without a word; a client that can read it learns from 05 FF that this is SOCKS5',
  },
  'connects to an octal address written as a name': { theirs: 'reply 00, silent', why: NAME_IS_ADDRESS },
  'connects to a number written as a name': { theirs: 'reply 00, silent', why: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { theirs: 'reply 00, silent', why: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    theirs: 'reply 08, closed',
    why: 'we call it a rule (02); it calls it an unknown type of address',
  },
  'connects to an empty name': {
    theirs: 'reply 04, closed',
    why: 'it asks the resolver for it; we refuse it by rule (02)',
  },
  'connects to a name that does not exist': {
    theirs: 'reply 04',
    why: 'its refusal carries a name of its own as BND.ADDR; ours is 10 bytes with zeros, which every client can read',
  },
  'connects to port 0': {
    theirs: 'reply 08, closed',
    why: 'we let the system refuse the connection (05), as microsocks does',
  },
  'asks for BIND': { theirs: 'reply 02, closed', why: 'its rules forbid it here; with us it is off (07)' },
  'asks for UDP ASSOCIATE': {
    theirs: 'reply 02, closed',
    why: 'its rules forbid it here; with us it is off (07)',
  },
  'asks for command 9': {
    theirs: 'closed',
    why: 'RFC 1928 §6 has a reply for it (07); it closes without one',
  },
  'asks with address type 5': {
    theirs: 'closed',
    why: 'RFC 1928 §6 has a reply for it (08); it closes without one',
  },
  'asks with version 4': {
    theirs: 'silent',
    why: 'it goes on waiting; we say that it failed (01) and close',
  },
};

const CHECKED_LATER: Difference = {
  theirs: 'method 02, login 00, silent',
  why: 'it checks the login with the request and refuses that (02); RFC 1929 §2 has a status for it, by which clients ask again',
};
const NO_METHOD: Difference = {
  theirs: 'method 00, silent',
  why: 'it refuses the request (02) of a client without a login; RFC 1928 §3 has FF, which says why',
};

const THREE_PROXY: Readonly<Record<string, Difference>> = {
  'offers nothing': NO_METHOD,
  'offers no login': NO_METHOD,
  'offers GSSAPI and what is private': NO_METHOD,
  'offers "none acceptable"': NO_METHOD,
  'speaks SOCKS4': SERVES_SOCKS4,
  'speaks HTTP': {
    theirs: 'method 5b',
    why: 'it takes every version but 5 for SOCKS4; a client that can read it learns from 05 FF that this is SOCKS5',
  },
  'logs in with a wrong password': CHECKED_LATER,
  'logs in as nobody': CHECKED_LATER,
  'logs in with the beginning of the password': CHECKED_LATER,
  'logs in with a zero byte behind the password': CHECKED_LATER,
  'logs in with an empty name': CHECKED_LATER,
  'logs in with an empty password': CHECKED_LATER,
  'logs in with version 5': {
    theirs: 'method 02, login 02',
    why: 'it answers with a reply to a request (05 02 …), where the client expects two bytes of RFC 1929',
  },
  'connects to an octal address written as a name': {
    theirs: `${LOGS_IN}reply 04, closed`,
    why: 'its resolver knows no such name; we refuse it by rule (02)',
  },
  'connects to a number written as a name': { theirs: `${LOGS_IN}reply 00, silent`, why: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { theirs: `${LOGS_IN}reply 00, silent`, why: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    theirs: `${LOGS_IN}reply 01, closed`,
    why: 'we call it a rule (02), not a failure of ours',
  },
  'connects to an empty name': {
    theirs: `${LOGS_IN}reply 04, closed`,
    why: 'it asks the resolver for it; we refuse it by rule (02)',
  },
  'connects to port 0': {
    theirs: `${LOGS_IN}reply 01, closed`,
    why: 'we let the system refuse the connection (05), as microsocks does',
  },
  'asks for BIND': {
    theirs: `${LOGS_IN}reply 02, closed`,
    why: 'its rules forbid it here; with us it is off (07)',
  },
  'asks for UDP ASSOCIATE': {
    theirs: `${LOGS_IN}closed`,
    why: 'its rules forbid it here, and it closes without a reply; with us it is off (07)',
  },
};

async function startEcho(t: Scope): Promise<Ports> {
  const target = await startTarget(t, echo);
  const target6 = createServer({ allowHalfOpen: true }, echo).listen(target.port, '::1');
  await once(target6, 'listening');
  t.after(() => target6.close());
  // Nobody listens on port 1 (tcpmux) of a machine that runs tests.
  return { echo: target.port, closed: 1 };
}

/** The method and the login are not compared where only one of the two servers has logins. */
function withoutLogin(seen: string): string {
  return seen.replace(/^method 02, login 00, |^method 00, /, '');
}

// Debian has no package of it: where it was built from its sources, it is in PATH.
const wants3proxy = { skip: findProgram('3proxy') === undefined && 'not installed: 3proxy' };

const playAll = (which: readonly Script[], server: ComparedServer, ports: Ports): Promise<string[]> =>
  Promise.all(which.map((script) => play(script, server, ports)));

describe('the same bytes', () => {
  const scope = suiteScope();
  let ours: ComparedServer;
  let ports: Ports;
  before(async () => {
    ports = await startEcho(scope);
    ours = await startOurs(scope);
  });

  it('to microsocks end in the same, but for what is listed', needs('microsocks'), async (t) => {
    const theirs = await playAll(scripts, await startMicrosocks(t), ports);
    compare(scripts, await playAll(scripts, ours, ports), theirs, MICROSOCKS);
  });

  it('to 3proxy end in the same, but for what is listed', wants3proxy, async (t) => {
    const theirs = await playAll(scripts, await start3proxy(t), ports);
    compare(scripts, await playAll(scripts, ours, ports), theirs, THREE_PROXY);
  });

  it('to danted end in the same, but for what is listed', needs('danted'), async (t) => {
    const which = scripts.filter(({ expects }) => expects !== 'login');
    const theirs = (await playAll(which, await startDanted(t), ports)).map((seen, i) =>
      which[i]?.expects === 'method' ? seen : withoutLogin(seen),
    );
    const mine = (await playAll(which, ours, ports)).map((seen, i) =>
      which[i]?.expects === 'method' ? seen : withoutLogin(seen),
    );
    compare(which, mine, theirs, DANTED);
  });
});

function compare(
  which: readonly Script[],
  mine: readonly string[],
  theirs: readonly string[],
  listed: Readonly<Record<string, Difference>>,
): void {
  const found = which.flatMap(({ name }, i) => (mine[i] === theirs[i] ? [] : [[name, theirs[i]]]));
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(Object.entries(listed).map(([name, difference]) => [name, difference.theirs])),
  );
}
