import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseIp } from '../../../src/core/addresses/ip.js';
import {
  createGameRules,
  type GameRule,
  GameRuleError,
  type PayloadVerdict,
} from '../../../src/core/heartbeats/game-rules.js';
import { compilePattern } from '../../../src/games-pattern.js';
import { scaled } from '../../helpers/scale.js';

/** `host ip port protocol`; the address may be `-` for none. */
function flow(text: string) {
  const [host = '', ip = '-', port = '443', protocol = 'tcp'] = text.split(' ');
  return {
    host,
    ip: ip === '-' ? null : parseIp(ip),
    port: Number(port),
    protocol: protocol === 'udp' ? ('udp' as const) : ('tcp' as const),
  };
}

function start(rules: readonly GameRule[], to: string) {
  return createGameRules(rules, compilePattern).start(flow(to));
}

/** The fixed GameID, 'inspect' for a payload rule, or null. */
function outcome(rules: readonly GameRule[], to: string): string | null {
  const verdict = start(rules, to);
  if (verdict === null) return null;
  return 'inspect' in verdict ? 'inspect' : verdict.gameId;
}

function matcher(rules: readonly GameRule[], to = 'game.example 192.0.2.1 9000 tcp') {
  const verdict = start(rules, to);
  assert.ok(verdict && 'inspect' in verdict);
  return verdict.inspect;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

const arena = {
  hosts: ['*.arena.example', '203.0.113.0/24'],
  ports: [7000, '7100-7200'],
  protocol: 'tcp',
} as const;

test('a rule matches a destination by host, port and protocol', async (t) => {
  const hosts = (...list: string[]) => ({ hosts: list });
  const ports = (...list: (number | string)[]) => ({ ports: list });
  const cases: [string, GameRule['match'], string, boolean][] = [
    ['no match part', undefined, 'any.example 192.0.2.1', true],
    ['an empty match part', {}, 'any.example 192.0.2.1', true],
    ['exact name', hosts('play.example'), 'play.example 192.0.2.1', true],
    ['exact name in other case', hosts('play.example'), 'PLAY.Example 192.0.2.1', true],
    ['pattern in other case', hosts('Play.EXAMPLE'), 'play.example 192.0.2.1', true],
    ['exact name with root dot', hosts('play.example'), 'play.example. 192.0.2.1', true],
    ['pattern with root dot', hosts('play.example.'), 'play.example 192.0.2.1', true],
    ['exact name is not its children', hosts('play.example'), 'eu.play.example 192.0.2.1', false],
    ['exact name is not a suffix', hosts('play.example'), 'replay.example 192.0.2.1', false],
    ['another name', hosts('play.example'), 'play.example.net 192.0.2.1', false],
    ['wildcard, one label below', hosts('*.arena.example'), 'eu.arena.example 192.0.2.1', true],
    ['wildcard, many labels below', hosts('*.arena.example'), 'a.b.c.arena.example 192.0.2.1', true],
    ['wildcard, other case', hosts('*.Arena.example'), 'EU.ARENA.EXAMPLE 192.0.2.1', true],
    ['wildcard, root dot', hosts('*.arena.example'), 'eu.arena.example. 192.0.2.1', true],
    ['wildcard is not the name itself', hosts('*.arena.example'), 'arena.example 192.0.2.1', false],
    ['wildcard is not an empty label', hosts('*.arena.example'), '.arena.example 192.0.2.1', false],
    ['wildcard needs the dot', hosts('*.arena.example'), 'myarena.example 192.0.2.1', false],
    ['wildcard is anchored at the end', hosts('*.arena.example'), 'x.arena.example.net 192.0.2.1', false],
    ['star alone', hosts('*'), 'anything 192.0.2.1', true],
    ['international name', hosts('游戏.example'), 'xn--unup4y.example 192.0.2.1', true],
    ['international wildcard', hosts('*.游戏.example'), 'eu.xn--unup4y.example 192.0.2.1', true],
    ['underscore label', hosts('_game.example'), '_game.example 192.0.2.1', true],
    ['single label', hosts('lobby'), 'lobby 10.0.0.1', true],
    ['address', hosts('203.0.113.7'), '203.0.113.7 203.0.113.7', true],
    ['another address', hosts('203.0.113.7'), '203.0.113.8 203.0.113.8', false],
    ['address against a name that resolved to it', hosts('203.0.113.7'), 'x.example 203.0.113.7', true],
    ['address as host, none dialled yet', hosts('203.0.113.7'), '203.0.113.7 -', true],
    ['name, none dialled yet', hosts('203.0.113.7'), 'x.example -', false],
    ['the dialled address decides, not the text', hosts('203.0.113.7'), '203.0.113.7 192.0.2.1', false],
    ['block, first', hosts('203.0.113.0/24'), 'x 203.0.113.0', true],
    ['block, last', hosts('203.0.113.0/24'), 'x 203.0.113.255', true],
    ['block, one before', hosts('203.0.113.0/24'), 'x 203.0.112.255', false],
    ['block, one after', hosts('203.0.113.0/24'), 'x 203.0.114.0', false],
    ['odd block, inside', hosts('10.32.0.0/11'), 'x 10.63.255.255', true],
    ['odd block, outside', hosts('10.32.0.0/11'), 'x 10.64.0.0', false],
    ['block with host bits', hosts('203.0.113.9/24'), 'x 203.0.113.1', true],
    ['mapped address in an IPv4 block', hosts('203.0.113.0/24'), 'x ::ffff:203.0.113.5', true],
    ['IPv6 address', hosts('2001:db8::1'), 'x 2001:db8:0:0:0:0:0:1', true],
    ['IPv6 block', hosts('2001:db8::/32'), 'x 2001:db8:ffff::1', true],
    ['outside the IPv6 block', hosts('2001:db8::/32'), 'x 2001:db9::1', false],
    ['IPv4 is not in an IPv6 block', hosts('::/0'), 'x 192.0.2.1', false],
    ['any of the hosts: first', hosts('a.example', '*.b.example'), 'a.example 192.0.2.1', true],
    ['any of the hosts: last', hosts('a.example', '*.b.example'), 'x.b.example 192.0.2.1', true],
    ['none of the hosts', hosts('a.example', '*.b.example'), 'b.example 192.0.2.1', false],
    ['port', ports(7000), 'x - 7000', true],
    ['another port', ports(7000), 'x - 7001', false],
    ['port as text', ports('7000'), 'x - 7000', true],
    ['range, first', ports('7100-7200'), 'x - 7100', true],
    ['range, last', ports('7100-7200'), 'x - 7200', true],
    ['range, before', ports('7100-7200'), 'x - 7099', false],
    ['range, after', ports('7100-7200'), 'x - 7201', false],
    ['range of one', ports('7100-7100'), 'x - 7100', true],
    ['all ports', ports('1-65535'), 'x - 65535', true],
    ['any of the ports', ports(1, '5-6', 9), 'x - 9', true],
    ['tcp', { protocol: 'tcp' }, 'x - 1 tcp', true],
    ['tcp against udp', { protocol: 'tcp' }, 'x - 1 udp', false],
    ['udp', { protocol: 'udp' }, 'x - 1 udp', true],
    ['udp against tcp', { protocol: 'udp' }, 'x - 1 tcp', false],
    ['all three parts', arena, 'eu.arena.example - 7000 tcp', true],
    ['all three parts by address', arena, 'x.example 203.0.113.77 7150 tcp', true],
    ['wrong host', arena, 'arena.example 192.0.2.1 7000 tcp', false],
    ['wrong port', arena, 'eu.arena.example - 7099 tcp', false],
    ['wrong protocol', arena, 'eu.arena.example - 7000 udp', false],
  ];
  for (const [name, match, to, matches] of cases) {
    await t.test(name, () => assert.equal(outcome([{ match, id: 'hit' }], to), matches ? 'hit' : null));
  }
});

test('the first matching rule applies', () => {
  const rules: GameRule[] = [
    { id: 'one', match: { ports: [1, 2] } },
    { gameId: '(x)', match: { ports: [2, 3] } },
    { id: 'three', match: { ports: ['1-4'] } },
    { gameId: '(y)', match: { ports: [3, 4, 5] } },
  ];
  const outcomes = [1, 2, 3, 4, 5, 6].map((port) => outcome(rules, `x - ${port}`));
  assert.deepEqual(outcomes, ['one', 'one', 'inspect', 'three', 'inspect', null]);
  assert.equal(outcome([], 'x - 1'), null);
});

test('invalid rules are refused with their position', async (t) => {
  const good: GameRule = { id: 'good' };
  const cases: [string, GameRule, string][] = [
    ['neither id nor pattern', {}, '[1]'],
    ['both id and pattern', { id: 'a', gameId: '(b)' }, '[1]'],
    ['empty id', { id: '' }, '[1].id'],
    ['id with a control character', { id: 'a\u001bb' }, '[1].id'],
    ['id with a direction override', { id: 'a\u202eb' }, '[1].id'],
    ['id of 129', { id: 'x'.repeat(129) }, '[1].id'],
    ['backreference', { gameId: '(a)\\1' }, '[1].gameId'],
    ['no bytes', { gameId: '(a)', maxBytes: 0 }, '[1].maxBytes'],
    ['a fraction of a byte', { gameId: '(a)', maxBytes: 1.5 }, '[1].maxBytes'],
    ['too many bytes', { gameId: '(a)', maxBytes: 65537 }, '[1].maxBytes'],
    ['no hosts', { id: 'a', match: { hosts: [] } }, '[1].match.hosts'],
    ['no ports', { id: 'a', match: { ports: [] } }, '[1].match.ports'],
    ['port 0', { id: 'a', match: { ports: [7, 0] } }, '[1].match.ports[1]'],
    ['port 65536', { id: 'a', match: { ports: [65536] } }, '[1].match.ports[0]'],
    ['port with fraction', { id: 'a', match: { ports: [1.5] } }, '[1].match.ports[0]'],
    ['backward range', { id: 'a', match: { ports: ['9-8'] } }, '[1].match.ports[0]'],
    ['open range', { id: 'a', match: { ports: ['9-'] } }, '[1].match.ports[0]'],
    ['range with spaces', { id: 'a', match: { ports: ['1 - 2'] } }, '[1].match.ports[0]'],
    ...[
      '',
      '*.',
      '**',
      'a*.example',
      '*example',
      'a..b',
      'a b',
      'http://x',
      'x/24',
      '10.0.0',
      '10.0.0.256',
      '010.0.0.1',
      '10.0.0.0/33',
      '1:2:3',
      '0x7f.1',
      'a.example:70',
      '[::1]',
      '*.10',
      '游戏/x',
      `${'a'.repeat(64)}.example`,
    ].map((host): [string, GameRule, string] => [
      `host ${JSON.stringify(host)}`,
      { id: 'a', match: { hosts: ['ok.example', host] } },
      '[1].match.hosts[1]',
    ]),
  ];
  for (const [name, rule, path] of cases) {
    await t.test(name, () => {
      assert.throws(
        () => createGameRules([good, rule], compilePattern),
        (error) => error instanceof GameRuleError && error.path === path && error.message.length > 5,
      );
    });
  }
});

const PAYLOAD = 'HELLO v=3;GAMEID=ARENA42;mode=ranked\r\n';
const byName: GameRule = { gameId: 'GAMEID=([A-Z0-9]{4,16});' };

test('the GameID is found in packets that are cut anywhere', () => {
  for (let cut = 0; cut <= PAYLOAD.length; cut += 1) {
    const inspect = matcher([byName]);
    const first = inspect.feed(latin1(PAYLOAD.slice(0, cut)));
    const found = first === 'more' ? inspect.feed(latin1(PAYLOAD.slice(cut))) : first;
    assert.deepEqual(found, { gameId: 'ARENA42' }, `cut at ${cut}`);
  }
  for (let a = 0; a < PAYLOAD.length; a += 3) {
    for (let b = a; b <= PAYLOAD.length; b += 1) {
      const inspect = matcher([{ gameId: 'GAMEID=([A-Z0-9]+)' }]);
      const parts = [PAYLOAD.slice(0, a), PAYLOAD.slice(a, b), PAYLOAD.slice(b)];
      const verdicts = parts.map((part) => inspect.feed(latin1(part)));
      const found = verdicts.find((verdict) => typeof verdict === 'object');
      assert.deepEqual(found, { gameId: 'ARENA42' }, `cut at ${a} and ${b}`);
    }
  }
});

test('a GameID that comes one byte at a time is found at the byte after it', () => {
  const inspect = matcher([byName]);
  const end = PAYLOAD.indexOf(';mode');
  for (const [i, byte] of latin1(PAYLOAD).entries()) {
    const verdict = inspect.feed(Uint8Array.of(byte));
    assert.deepEqual(verdict, i < end ? 'more' : i === end ? { gameId: 'ARENA42' } : 'done');
  }
});

test('the GameID does not depend on how the first bytes are cut', () => {
  const text = fc.string({ unit: fc.constantFrom('I', 'D', '=', 'a', 'b', ';', '\n'), maxLength: 60 });
  const cuts = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 });
  const verdictOf = (payload: string, at: readonly number[]): PayloadVerdict => {
    const inspect = matcher([{ gameId: 'ID=([ab]+)', maxBytes: 40 }]);
    const points = [0, ...at.filter((cut) => cut < payload.length).sort((a, b) => a - b), payload.length];
    for (let i = 1; i < points.length; i += 1) {
      const verdict = inspect.feed(latin1(payload.slice(points[i - 1], points[i])));
      if (verdict !== 'more') return verdict;
    }
    return inspect.end();
  };
  fc.assert(
    fc.property(text, cuts, (payload, at) => {
      const expected = /ID=([ab]+)/.exec(payload.slice(0, 40))?.[1];
      assert.deepEqual(verdictOf(payload, at), expected === undefined ? 'done' : { gameId: expected });
    }),
    { numRuns: scaled(500) },
  );
});

test('a GameID that may continue is reported when it cannot continue any more', async (t) => {
  const openEnded: GameRule = { gameId: 'ID=([a-z]+)' };
  const feed = (text: string, rule = openEnded, to?: string) => {
    const inspect = matcher([rule], to);
    return { inspect, verdict: inspect.feed(latin1(text)) };
  };
  await t.test('after the next byte', () => {
    const { inspect, verdict } = feed('ID=ab');
    assert.equal(verdict, 'more');
    assert.equal(inspect.feed(latin1('cd')), 'more');
    assert.deepEqual(inspect.feed(latin1(' ')), { gameId: 'abcd' });
  });
  await t.test('after a pause', () => {
    const { inspect } = feed('ID=ab');
    assert.deepEqual(inspect.settle(), { gameId: 'ab' });
    assert.equal(inspect.settle(), 'done');
    assert.equal(inspect.end(), 'done');
  });
  await t.test('at the end of the flow', () => {
    assert.deepEqual(feed('ID=ab').inspect.end(), { gameId: 'ab' });
  });
  await t.test('at the last byte that its rule inspects', () => {
    assert.deepEqual(feed('ID=ab', { ...openEnded, maxBytes: 5 }).verdict, { gameId: 'ab' });
    assert.deepEqual(feed('ID=abcdef ', { ...openEnded, maxBytes: 5 }).verdict, { gameId: 'ab' });
  });
  await t.test('at the end of a datagram', () => {
    assert.deepEqual(feed('ID=ab', openEnded, 'x - 9000 udp').verdict, { gameId: 'ab' });
  });
  await t.test('and a pause before a GameID decides nothing', () => {
    const { inspect } = feed('nothing yet');
    assert.equal(inspect.settle(), 'more');
    assert.deepEqual(inspect.feed(latin1('ID=x;')), { gameId: 'x' });
  });
});

test('bytes after maxBytes are ignored', () => {
  assert.deepEqual(matcher([{ ...byName, maxBytes: 25 }]).feed(latin1(PAYLOAD)), { gameId: 'ARENA42' });
  assert.equal(matcher([{ ...byName, maxBytes: 24 }]).feed(latin1(PAYLOAD)), 'done');
  const inspect = matcher([byName]);
  assert.equal(inspect.feed(Buffer.alloc(4090, 'x')), 'more');
  assert.equal(inspect.feed(latin1('GAMEID=ABCD;')), 'done');
  assert.equal(inspect.feed(latin1('GAMEID=ABCD;')), 'done');
});

test('several payload rules and a fixed rule are applied in order', async (t) => {
  const rules: GameRule[] = [
    { gameId: 'A=(\\w+);', maxBytes: 10 },
    { gameId: 'B=(\\w+);', maxBytes: 20 },
    { id: 'other' },
    { id: 'never' },
  ];
  const first = (...chunks: string[]) => {
    const inspect = matcher(rules);
    for (const chunk of chunks) {
      const verdict = inspect.feed(latin1(chunk));
      if (verdict !== 'more') return verdict;
    }
    return 'more';
  };
  await t.test('the first of several rules that match the same bytes applies', () =>
    assert.deepEqual(first('B=2;A=1;'), { gameId: '1' }),
  );
  await t.test('a later rule that matches first applies', () =>
    assert.deepEqual(first('B=2;', 'A=1;'), { gameId: '2' }),
  );
  await t.test('each rule inspects the bytes up to its limit', () =>
    assert.deepEqual(first('xxxxxxA=1;B=2;'), { gameId: '1' }),
  );
  await t.test('a rule does not match after its limit', () =>
    assert.deepEqual(first('xxxxxxxA=1;B=2;'), { gameId: '2' }),
  );
  await t.test('the fixed rule applies after the limits of all payload rules', () =>
    assert.deepEqual(first('x'.repeat(20)), { gameId: 'other' }),
  );
  await t.test('the fixed rule does not apply before', () => assert.equal(first('x'.repeat(19)), 'more'));
  await t.test('the fixed rule applies at the end of a short flow', () => {
    const inspect = matcher(rules);
    assert.equal(inspect.feed(latin1('x')), 'more');
    assert.deepEqual(inspect.end(), { gameId: 'other' });
  });
  await t.test('without a fixed rule no rule applies', () =>
    assert.equal(matcher(rules.slice(0, 2)).end(), 'done'),
  );
});

test('the GameID is the captured text, decoded and without control characters', async (t) => {
  const cases: [string, string, Buffer, string | null][] = [
    ['the whole match without a group', 'ROOM[0-9]+', latin1('xROOM7 '), 'ROOM7'],
    ['the first of two groups', '(a)(b)', latin1('ab'), 'a'],
    ['the group of the alternative that matched', 'A=(\\d)|B=(\\d)', latin1('B=5'), '5'],
    ['named group', '(?P<id>\\d+);', latin1('12;'), '12'],
    ['a group that did not match', 'x(a)?;', latin1('x;'), null],
    ['empty group', 'x(a*);', latin1('x;'), null],
    ['UTF-8', 'g=([^;]+);', Buffer.from('g=王者荣耀;'), '王者荣耀'],
    ['latin1', 'g=([^;]+);', latin1('g=caf\xe9;'), 'café'],
    ['any byte', '\\x00(..)\\xff', Buffer.from([0, 0x41, 0x42, 0xff]), 'AB'],
    ['control characters', '(?s)g=(.+);', latin1('g=a\u001b[31mb\r\nc\0;'), 'a[31mbc'],
    ['only control characters', '(?s)g=(.+);', latin1('g=\0\0\n;'), null],
    ['only spaces', 'g=( +);', latin1('g=   ;'), null],
    ['direction override', 'g=([^;]+);', Buffer.from('g=a\u202eb\u2028;'), 'ab'],
    ['128 characters', 'g=([^;]+);', latin1(`g=${'x'.repeat(200)};`), 'x'.repeat(128)],
    ['a surrogate pair at the limit', 'g=([^;]+);', Buffer.from(`g=${'x'.repeat(127)}🎮;`), 'x'.repeat(127)],
    ['markup stays text', 'g=([^;]+);', latin1('g=<b>"x"</b>;'), '<b>"x"</b>'],
  ];
  for (const [name, gameId, payload, expected] of cases) {
    await t.test(name, () => {
      const inspect = matcher([{ gameId }]);
      const verdict = inspect.feed(payload);
      const last = verdict === 'more' ? inspect.end() : verdict;
      assert.deepEqual(last, expected === null ? 'done' : { gameId: expected });
    });
  }
});

test('four thousand single bytes cause a bounded number of searches', () => {
  let searches = 0;
  let bytes = 0;
  const counting = () => ({
    exec(text: string) {
      searches += 1;
      bytes += text.length;
      return null;
    },
  });
  const verdict = createGameRules([{ gameId: 'x' }], counting).start(flow('x -'));
  assert.ok(verdict && 'inspect' in verdict);
  let last: PayloadVerdict = 'more';
  for (let i = 0; i < 4096; i += 1) {
    last = verdict.inspect.feed(Uint8Array.of(0x61));
    if (i % 8 === 0) verdict.inspect.settle();
  }
  assert.equal(last, 'done');
  assert.ok(searches < 250, `${searches} searches`);
  assert.ok(bytes < 16 * 1024 + 10 * 4096, `${bytes} bytes searched`);
});
