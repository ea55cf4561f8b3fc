// Destinations that the daemon reaches through an upstream HTTP proxy.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { basic } from '../helpers/http.js';
import { connectThrough, loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const CREDENTIALS = basic('child', 'secret');

describe('destinations through an HTTP proxy', () => {
  const scope = suiteScope();
  const requests: string[] = [];
  let daemon: TestDaemon;
  let target: Target;

  before(async () => {
    target = await startTarget(scope, echo);
    // A proxy for CONNECT with one account.
    const proxy = createServer((client) => {
      client.on('error', () => {});
      client.once('data', (head) => {
        const text = head.toString('latin1');
        requests.push(text.split('\r\n', 1)[0] ?? '');
        if (!text.includes(`Proxy-Authorization: ${CREDENTIALS}`))
          return client.end('HTTP/1.1 407 No\r\n\r\n');
        if (text.includes('forbidden.test')) return client.end('HTTP/1.1 403 No\r\n\r\n');
        const upstream = connect(target.port, '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\nhello ');
          client.pipe(upstream).pipe(client);
        });
        upstream.on('error', () => client.destroy());
      });
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    scope.after(() => void proxy.close());
    const address = proxy.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const through = { proxy: `http://127.0.0.1:${port}`, names: 'proxy' };
    daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          upstreams: [
            { match: { hosts: ['stranger.test'] }, ...through },
            { match: { hosts: ['*'] }, ...through, username: 'child', password: 'secret' },
          ],
        },
      },
    });
    await daemon.addAccount('player', 'secret');
  });

  const account = () => ({ port: daemon.socks.port, username: 'player', password: 'secret' });

  it('are requested by name, and bytes that the proxy sends with its response are relayed', async () => {
    const client = await connectThrough(account(), 'game.test', 7000);
    client.send('there');
    assert.equal((await client.read(11)).toString(), 'hello there');
    client.destroy();
    assert.ok(requests.includes('CONNECT game.test:7000 HTTP/1.1'));
  });

  for (const [name, code, reason] of [
    ['forbidden.test', 2, 'upstream-status-403'],
    ['stranger.test', 1, 'upstream-login'],
  ] as const) {
    it(`are refused with reply ${code} when the proxy refuses ${name}`, async () => {
      const client = await loggedInClient(account());
      client.send(request(name, 80));
      assert.equal((await readReply(client)).code, code);
      await daemon.waitForLine((line) => line.msg === 'destination refused' && line['reason'] === reason);
    });
  }
});
