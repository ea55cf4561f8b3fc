// Players behind the load balancers of etc/fleet.md, with the guide's own files.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { documentedConfig, type Replacements, startHaproxy, startNginx } from '../helpers/balancer.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { send } from '../helpers/http.js';
import { freePort } from '../helpers/ports.js';
import { NGINX_STREAM, needs } from '../helpers/programs.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

describe('a daemon behind a load balancer of etc/fleet.md', async () => {
  const t = suiteScope();
  const PLAYER = '127.0.0.77';
  let daemon: TestDaemon;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pulsegate-balancer-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    daemon = await startTestDaemon(t, {
      config: {
        socks: { proxyProtocol: true, proxyProtocolFrom: ['127.0.0.1'] },
        admin: { trustedProxies: ['127.0.0.1'] },
      },
    });
    await daemon.addAccount('ann', 'word');
  });

  /** Returns the replacements that make this daemon every node of the guide. */
  function nodes(ports: readonly ('1080' | '8080')[]): Replacements {
    const daemonPorts = { '1080': String(daemon.socks.port), '8080': new URL(daemon.adminUrl).port };
    const hosts = ['10.0.0.11', '10.0.0.12', '10.0.0.13'];
    return Object.fromEntries(
      ports.flatMap((port) => hosts.map((host) => [`${host}:${port}`, `127.0.0.1:${daemonPorts[port]}`])),
    );
  }

  /** Returns the client address that the daemon sees for a session through the balancer. */
  async function addressSeen(port: number): Promise<unknown> {
    const target = await startTarget(t, echo);
    const client = await RawClient.connect(port, '127.0.0.1', PLAYER);
    client.send(Buffer.concat([greeting(2), login('ann', 'word'), request('127.0.0.1', target.port)]));
    assert.equal((await client.read(4)).toString('hex'), '05020100');
    assert.equal((await readReply(client)).code, 0);
    const { json } = await daemon.api('GET', '/api/v1/sessions');
    const [session] = (json as { items: { client: { address: string } }[] }).items;
    client.destroy();
    return session?.client.address;
  }

  test('haproxy passes on the addresses of players, and serves operators', needs('haproxy'), async () => {
    const [players, operators] = [await freePort(), await freePort()];
    const config = await documentedConfig('/etc/haproxy/haproxy.cfg', {
      ...nodes(['1080', '8080']),
      'check port 8080': `check port ${new URL(daemon.adminUrl).port}`,
      'bind :1080': `bind 127.0.0.1:${players}`,
      'bind :8080': `bind 127.0.0.1:${operators}`,
    });
    const balancer = await startHaproxy(folder, 'haproxy', config);
    t.after(() => balancer.stop());
    assert.equal(await eventually(() => addressSeen(players)), PLAYER);
    const { status } = await send(`http://127.0.0.1:${operators}/readyz`);
    assert.equal(status, 200);
  });

  test('nginx passes on the addresses of players', needs(NGINX_STREAM), async () => {
    const players = await freePort();
    const config = await documentedConfig('/etc/nginx/nginx.conf', {
      ...nodes(['1080']),
      'listen 1080': `listen 127.0.0.1:${players}`,
    });
    const balancer = await startNginx(folder, config);
    t.after(() => balancer.stop());
    assert.equal(await eventually(() => addressSeen(players)), PLAYER);
  });
});
