// Sends the same bytes to danted, microsocks, 3proxy and Pulsegate. Each difference that a client sees is listed here with its reason.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import { findProgram, IPV6, needs } from '../helpers/programs.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { type Ports, resultOf, type Script, scripts } from './scripts.js';
import { type ComparedServer, start3proxy, startDanted, startMicrosocks, startPulsegate } from './servers.js';

interface Difference {
  /** The result of the other server. */
  readonly peer: string;
  readonly reason: string;
}

const LOGS_IN = 'method 02, login 00, ';
const SERVES_SOCKS4: Difference = {
  peer: 'method 5b',
  reason: 'it serves SOCKS4 too and refuses with a SOCKS4 reply; Pulsegate serves only SOCKS5 here',
};
const NAME_IS_ADDRESS =
  'a name that some resolvers read as an address would evade the rules for addresses: Pulsegate refuses it';
const UNSET_FAILURE = 'for RFC 1929 §2 every status but 0 is a failure; Pulsegate sends 1, as most servers';

const MICROSOCKS: Readonly<Record<string, Difference>> = {
  'logs in with a wrong password': { peer: 'method 02, login 02, closed', reason: UNSET_FAILURE },
  'logs in with an unknown user name': { peer: 'method 02, login 02, closed', reason: UNSET_FAILURE },
  'logs in with the beginning of the password': {
    peer: 'method 02, login 02, closed',
    reason: UNSET_FAILURE,
  },
  'logs in with a zero byte after the password': {
    peer: 'method 02, login 00, silent',
    reason: 'it compares C strings, which end at the zero byte; Pulsegate compares all bytes',
  },
  'connects to an octal address written as a name': {
    peer: `${LOGS_IN}reply 00, silent`,
    reason: NAME_IS_ADDRESS,
  },
  'connects to a number written as a name': { peer: `${LOGS_IN}reply 00, silent`, reason: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { peer: `${LOGS_IN}reply 00, silent`, reason: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    peer: `${LOGS_IN}reply 00, silent`,
    reason: 'the system connects to loopback, which would evade the rules for loopback: Pulsegate refuses it',
  },
  'connects to an empty name': {
    peer: `${LOGS_IN}reply 01, closed`,
    reason:
      'resolvers return loopback or nothing; Pulsegate refuses it by a rule (02), which is not a failure of the server',
  },
  'connects to a name that does not exist': {
    peer: `${LOGS_IN}reply 01, closed`,
    reason: 'RFC 1928 §6 has the more precise reply "host unreachable"',
  },
  'sends a request with RSV 1': {
    peer: `${LOGS_IN}reply 01, closed`,
    reason: 'RFC 1928 §4 has RSV 00, but old clients send other values: Pulsegate ignores it, as danted does',
  },
  'sends everything in one packet': {
    peer: 'method 02, silent',
    reason:
      'it reads one message per packet; TCP has no packet boundaries, and some clients save round trips',
  },
};

const DANTED: Readonly<Record<string, Difference>> = {
  'offers only "no authentication"': {
    peer: 'method 00, silent',
    reason: 'it runs without logins here, because its users are those of the system',
  },
  'speaks SOCKS4': SERVES_SOCKS4,
  'speaks HTTP': {
    peer: 'closed',
    reason: 'it closes without an answer; 05 FF tells a client that this is SOCKS5',
  },
  'connects to an octal address written as a name': { peer: 'reply 00, silent', reason: NAME_IS_ADDRESS },
  'connects to a number written as a name': { peer: 'reply 00, silent', reason: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { peer: 'reply 00, silent', reason: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    peer: 'reply 08, closed',
    reason: 'Pulsegate refuses it by a rule (02); danted replies with an unknown type of address',
  },
  'connects to an empty name': {
    peer: 'reply 04, closed',
    reason: 'it asks the resolver; Pulsegate refuses it by a rule (02)',
  },
  'connects to a name that does not exist': {
    peer: 'reply 04',
    reason:
      'its reply has a name as BND.ADDR; the reply of Pulsegate has an IPv4 address of zeros, which every client can read',
  },
  'connects to port 0': {
    peer: 'reply 08, closed',
    reason: 'Pulsegate lets the system refuse the connection (05), as microsocks does',
  },
  'requests BIND': {
    peer: 'reply 02, closed',
    reason: 'its rules forbid it here; Pulsegate has it disabled (07)',
  },
  'requests UDP ASSOCIATE': {
    peer: 'reply 02, closed',
    reason: 'its rules forbid it here; Pulsegate has it disabled (07)',
  },
  'requests command 9': {
    peer: 'closed',
    reason: 'RFC 1928 §6 has a reply for it (07); it closes without one',
  },
  'requests address type 5': {
    peer: 'closed',
    reason: 'RFC 1928 §6 has a reply for it (08); it closes without one',
  },
  'sends a request of version 4': {
    peer: 'silent',
    reason: 'it waits for more; Pulsegate replies with a failure (01) and closes',
  },
};

const CHECKED_LATER: Difference = {
  peer: 'method 02, login 00, silent',
  reason:
    'it checks the login with the request, which it refuses (02); RFC 1929 §2 has a status for it, after which clients ask for another password',
};
const NO_METHOD: Difference = {
  peer: 'method 00, silent',
  reason:
    'it refuses the request (02) of a client without a login; RFC 1928 §3 has the more precise method FF',
};

const THREE_PROXY: Readonly<Record<string, Difference>> = {
  'offers no method': NO_METHOD,
  'offers only "no authentication"': NO_METHOD,
  'offers GSSAPI and a private method': NO_METHOD,
  'offers "none acceptable"': NO_METHOD,
  'speaks SOCKS4': SERVES_SOCKS4,
  'speaks HTTP': {
    peer: 'method 5b',
    reason: 'it reads every version but 5 as SOCKS4; 05 FF tells a client that this is SOCKS5',
  },
  'logs in with a wrong password': CHECKED_LATER,
  'logs in with an unknown user name': CHECKED_LATER,
  'logs in with the beginning of the password': CHECKED_LATER,
  'logs in with a zero byte after the password': CHECKED_LATER,
  'logs in with an empty name': CHECKED_LATER,
  'logs in with an empty password': CHECKED_LATER,
  'logs in with version 5': {
    peer: 'method 02, login 02',
    reason: 'it sends a reply to a request (05 02 …), where the client expects the two bytes of RFC 1929',
  },
  'connects to an octal address written as a name': {
    peer: `${LOGS_IN}reply 04, closed`,
    reason: 'its resolver does not know the name; Pulsegate refuses it by a rule (02)',
  },
  'connects to a number written as a name': { peer: `${LOGS_IN}reply 00, silent`, reason: NAME_IS_ADDRESS },
  'connects to a name with a zero byte': { peer: `${LOGS_IN}reply 00, silent`, reason: NAME_IS_ADDRESS },
  'connects to 0.0.0.0': {
    peer: `${LOGS_IN}reply 01, closed`,
    reason: 'Pulsegate refuses it by a rule (02), which is not a failure of the server',
  },
  'connects to an empty name': {
    peer: `${LOGS_IN}reply 04, closed`,
    reason: 'it asks the resolver; Pulsegate refuses it by a rule (02)',
  },
  'connects to port 0': {
    peer: `${LOGS_IN}reply 01, closed`,
    reason: 'Pulsegate lets the system refuse the connection (05), as microsocks does',
  },
  'requests BIND': {
    peer: `${LOGS_IN}reply 02, closed`,
    reason: 'its rules forbid it here; Pulsegate has it disabled (07)',
  },
  'requests UDP ASSOCIATE': {
    peer: `${LOGS_IN}closed`,
    reason: 'its rules forbid it here, and it closes without a reply; Pulsegate has it disabled (07)',
  },
};

async function startEcho(t: Scope): Promise<Ports> {
  const target = await startTarget(t, echo);
  const target6 = createServer({ allowHalfOpen: true }, echo).listen(target.port, '::1');
  await once(target6, 'listening');
  t.after(() => target6.close());
  // No server listens on port 1 (tcpmux) of a machine that runs tests.
  return { echo: target.port, closed: 1 };
}

/** Removes the method and the login from a result, which are not compared when only one of two servers has logins. */
function withoutLogin(result: string): string {
  return result.replace(/^method 02, login 00, |^method 00, /, '');
}

// Debian has no package of 3proxy; after a build from its sources it is in PATH.
const needs3proxy = { skip: findProgram('3proxy') === undefined && 'not installed: 3proxy' };

const resultsOf = (compared: readonly Script[], server: ComparedServer, ports: Ports): Promise<string[]> =>
  Promise.all(compared.map((script) => resultOf(script, server, ports)));

describe('a client that sends the same bytes', needs(IPV6), () => {
  const scope = suiteScope();
  let pulsegate: ComparedServer;
  let ports: Ports;
  before(async () => {
    ports = await startEcho(scope);
    pulsegate = await startPulsegate(scope);
  });

  it(
    'sees the same from microsocks and Pulsegate, except for the listed differences',
    needs('microsocks'),
    async (t) => {
      const peerResults = await resultsOf(scripts, await startMicrosocks(t), ports);
      compare(scripts, await resultsOf(scripts, pulsegate, ports), peerResults, MICROSOCKS);
    },
  );

  it('sees the same from 3proxy and Pulsegate, except for the listed differences', needs3proxy, async (t) => {
    const peerResults = await resultsOf(scripts, await start3proxy(t), ports);
    compare(scripts, await resultsOf(scripts, pulsegate, ports), peerResults, THREE_PROXY);
  });

  it(
    'sees the same from danted and Pulsegate, except for the listed differences',
    needs('danted'),
    async (t) => {
      const compared = scripts.filter(({ expects }) => expects !== 'login');
      const peerResults = (await resultsOf(compared, await startDanted(t), ports)).map((result, i) =>
        compared[i]?.expects === 'method' ? result : withoutLogin(result),
      );
      const pulsegateResults = (await resultsOf(compared, pulsegate, ports)).map((result, i) =>
        compared[i]?.expects === 'method' ? result : withoutLogin(result),
      );
      compare(compared, pulsegateResults, peerResults, DANTED);
    },
  );
});

function compare(
  compared: readonly Script[],
  pulsegateResults: readonly string[],
  peerResults: readonly string[],
  listed: Readonly<Record<string, Difference>>,
): void {
  const found = compared.flatMap(({ name }, i) =>
    pulsegateResults[i] === peerResults[i] ? [] : [[name, peerResults[i]]],
  );
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(Object.entries(listed).map(([name, difference]) => [name, difference.peer])),
  );
}
