// UDP ASSOCIATE through the running daemon: what games do, and what ends it.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { suiteScope } from '../../helpers/suite.js';
import { associateThrough, startUdpEcho } from '../../helpers/udp-client.js';

describe('a UDP association', () => {
  let daemon: TestDaemon;
  const account = { port: 0, username: 'player', password: 'secret' };
  const scope = suiteScope();
  before(async () => {
    daemon = await startTestDaemon(scope);
    await daemon.addAccount('player', 'secret');
    account.port = daemon.socks.port;
  });

  for (const [what, host, listenOn] of [
    ['an IPv4 address', '127.0.0.1', '127.0.0.1'],
    ['an IPv6 address', '::1', '::1'],
    ['a name', Buffer.from('localhost'), '127.0.0.1'],
    ['an address written as a name', Buffer.from('127.0.0.1'), '127.0.0.1'],
  ] as const) {
    it(`carries datagrams to ${what} and back`, async (t) => {
      const echo = await startUdpEcho(t, listenOn);
      const client = await associateThrough(t, account);
      for (const text of ['one', 'two', '', 'x'.repeat(9_000)]) {
        client.send(host, echo.port, text);
        const answer = await client.receive();
        assert.equal(answer.data.toString(), text);
        assert.equal(answer.port, echo.port);
      }
    });
  }
});
