// The entries of a subscription: which listeners of which nodes, in which order, and their names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../../../../src/core/accounts/player/entries.js';
import type { PlayerListener, PlayerServer } from '../../../../src/core/nodes/nodes.js';

const main: PlayerListener = {
  address: '0.0.0.0',
  port: 1080,
  protocols: ['socks5', 'http'],
  isTls: false,
  hasUdp: true,
  isMain: true,
};
const further = (fields: Partial<PlayerListener>): PlayerListener => ({ ...main, isMain: false, ...fields });
const server = (name: string, host: string, ...listeners: PlayerListener[]): PlayerServer => ({
  name,
  host,
  port: 443,
  listeners,
});
const login = { username: 'alice', password: 'secret' };
const shown = (servers: readonly PlayerServer[], exits: readonly string[] = []) =>
  entriesOf(servers, login, exits).map(
    ({ name, host, port, username }) => `${name} = ${username} ${host}:${port}`,
  );

test('the main listener has the public port, others their own; loopback addresses are left out', () => {
  const listeners = [
    main,
    further({ port: 1443, isTls: true }),
    further({ port: 9, address: '127.0.0.1' }),
    further({ port: 8, address: '::1' }),
  ];
  assert.deepEqual(shown([server('n', 'play.example', ...listeners)], ['jp']), [
    'play.example TLS = alice play.example:1443',
    'play.example = alice play.example:443',
    'play.example TLS jp = alice+jp play.example:1443',
    'play.example jp = alice+jp play.example:443',
  ]);
  assert.equal(shown([server('n', 'localhost', ...listeners)]).length, 4);
  const behind = [{ ...main, address: '127.0.0.1' }];
  assert.deepEqual(shown([server('n', 'play.example', ...behind)]), [
    'play.example = alice play.example:443',
  ]);
});

test('listeners of one kind are told apart by their port, and the two families of one port are one entry', () => {
  const listeners = [
    main,
    { ...main, address: '::' },
    further({ port: 1081 }),
    further({ port: 1081, address: '::' }),
  ];
  assert.deepEqual(shown([server('n', '203.0.113.7', ...listeners)]), [
    '203.0.113.7:443 = alice 203.0.113.7:443',
    '203.0.113.7:1081 = alice 203.0.113.7:1081',
  ]);
});

test('nodes with hosts of their own have their names; nodes behind one balancer are one', () => {
  const tls = further({ port: 1443, isTls: true });
  assert.deepEqual(shown([server('tokyo', 'a.example', main, tls), server('osaka', 'b.example', main)]), [
    'tokyo TLS = alice a.example:1443',
    'tokyo = alice a.example:443',
    'osaka = alice b.example:443',
  ]);
  assert.deepEqual(shown([server('one', 'a.example', main), server('two', 'a.example', main)]), [
    'a.example = alice a.example:443',
  ]);
});
