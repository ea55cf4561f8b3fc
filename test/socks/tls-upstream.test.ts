// Upstream proxies behind TLS: SOCKS5 and HTTP, with an own authority or a fingerprint, and why a handshake fails; on both engines.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createServer } from 'node:tls';
import { seenAddress } from '../../src/core/exits/exit-figures.js';
import { makeCertificate } from '../helpers/certificate.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { needs } from '../helpers/programs.js';
import { connectThrough } from '../helpers/socks-client.js';
import { type Scope, suiteScope } from '../helpers/suite.js';
import { echo, startTarget, tellAddress } from '../helpers/targets.js';
import { associateThrough, UdpEnd } from '../helpers/udp-client.js';

const EXITS = '/api/v1/exits';
const BULK = 4_000_000;

describe('upstream proxies behind TLS', needs('openssl'), async () => {
  const scope = suiteScope();
  const { certFile, keyFile, fingerprint } = makeCertificate(scope);
  const listener = { host: '0.0.0.0', port: 0, tls: { cert: certFile, key: keyFile } };
  const target = await startTarget(scope, tellAddress);
  const echoes = await startTarget(scope, echo);
  const proxy = await startTestDaemon(scope, {
    config: { egress: { private: 'allow' }, socks: { udp: { enabled: true }, listeners: [listener] } },
  });
  await proxy.addAccount('child', 'child-secret');
  const ready = await proxy.waitForLine(({ msg }) => msg === 'ready');
  const port = Number((ready['socks'] as string[])[1]?.replace(/^tls:.*:/, ''));
  const talker = await startTalker(scope, { cert: readFileSync(certFile), key: readFileSync(keyFile) });
  const upstreamOf = (address: string) => ({ proxy: address, username: 'child', password: 'child-secret' });

  for (const engine of ['native', 'node'] as const) {
    describe(`with the ${engine} engine`, async () => {
      const daemon = await startTestDaemon(scope, {
        config: {
          socks: { engine, udp: { enabled: true } },
          egress: { private: 'allow', exitTest: `http://127.0.0.1:${target.port}/ip` },
        },
      });
      async function accountWith(name: string, ...proxies: string[]) {
        const exit = { name, upstreams: proxies.map(upstreamOf), addresses: ['127.0.0.9'] };
        assert.equal((await daemon.api('POST', EXITS, exit)).status, 201);
        const id = await daemon.addAccount(name, 'secret');
        await daemon.api('PATCH', `/api/v1/accounts/${id}`, { exit: name });
        return { port: daemon.socks.port, username: name, password: 'secret' };
      }
      const test = async (name: string) =>
        (await daemon.api('POST', `${EXITS}/${name}/test`)).json as Record<string, unknown>;

      for (const [name, address] of [
        ['socks', `socks5s://localhost:${port}?ca=${certFile}`],
        ['http', `https://127.0.0.1:${port}?ca=${certFile}`],
        ['pinned', `https://127.0.0.2:${port}?fingerprint=${fingerprint}`],
      ] as const) {
        it(`CONNECT passes ${name}, unchanged in both directions to its end`, async () => {
          const account = await accountWith(`${engine}-${name}`, address);
          const tested = await test(account.username);
          assert.deepEqual([tested['ok'], tested['seen']], [true, '127.0.0.1'], String(tested['reason']));
          const client = await connectThrough(account, '127.0.0.1', echoes.port);
          const sent = randomBytes(BULK);
          client.socket.end(sent);
          const back = await client.readToEnd();
          const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
          assert.deepEqual([back.length, digest(back)], [BULK, digest(sent)]);
          // The connection to the proxy leaves from the exit's address.
          await proxy.waitForLine((line) => line.msg === 'session ended' && line['client'] === '127.0.0.9');
        });
      }

      it('a session knows its outgoing address, and ends with its connection to the proxy', async () => {
        const account = await accountWith(`${engine}-held`, `socks5s://127.0.0.1:${port}?ca=${certFile}`);
        const client = await connectThrough(account, '127.0.0.1', echoes.port);
        const sessionsOf = async (of: typeof daemon, username: string) =>
          (
            (await of.api('GET', `/api/v1/sessions?search=${username}`)).json as {
              items: { id: string; via: string; outgoing: { address: string } }[];
            }
          ).items;
        await eventually(async () => {
          const [session] = await sessionsOf(daemon, account.username);
          assert.equal(session?.outgoing.address, '127.0.0.9');
        });
        for (const { id } of await sessionsOf(proxy, 'child'))
          await proxy.api('DELETE', `/api/v1/sessions/${id}`);
        await client.readToEnd();
        client.destroy();
        await daemon.waitForLine(
          (line) => line.msg === 'session ended' && line['account'] === account.username,
        );
      });

      it('UDP passes a SOCKS5 proxy', async () => {
        const account = await accountWith(`${engine}-udp`, `socks5s://127.0.0.1:${port}?ca=${certFile}`);
        const end = await UdpEnd.open(scope);
        const association = await associateThrough(scope, account);
        association.send('127.0.0.1', end.port, 'hello');
        const { from, data } = await end.receive();
        assert.equal(data.toString(), 'hello');
        end.send('back', from.port, from.address);
        assert.equal((await association.receive()).data.toString(), 'back');
      });

      it('a server that speaks first is no proxy, and is not waited for', async () => {
        const address = `socks5s://localhost:${talker}?ca=${certFile}`;
        const { username } = await accountWith(`${engine}-talker`, address);
        const tested = await test(username);
        assert.equal(tested['ok'], false);
        assert.doesNotMatch(String(tested['reason']), /timeout/);
      });

      it('what fails in the handshake is named, and the next proxy is used', async () => {
        const good = `https://localhost:${port}?ca=${certFile}`;
        for (const [name, address, reason] of [
          ['name', `https://127.0.0.2:${port}?ca=${certFile}`, 'ERR_TLS_CERT_ALTNAME_INVALID'],
          ['untrusted', `socks5s://localhost:${port}`, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
          ['other', `https://localhost:${port}?fingerprint=${'ab'.repeat(32)}`, /^fingerprint-[0-9a-f]{64}$/],
          ['file', `https://localhost:${port}?ca=${certFile}.missing`, 'ca-file-ENOENT'],
          ['plain', `https://localhost:${proxy.socks.port}?ca=${certFile}`, /./],
        ] as const) {
          const account = await accountWith(`${engine}-${name}`, address);
          const tested = await test(account.username);
          const [, found = ''] = /^upstream-tls-(.+)$/.exec(String(tested['reason'])) ?? [];
          if (typeof reason === 'string') assert.equal(found, reason);
          else assert.match(found, reason);
          await assert.rejects(connectThrough(account, '127.0.0.1', target.port));
          const line = await daemon.waitForLine(
            ({ msg, account: of }) => msg === 'destination refused' && of === account.username,
          );
          assert.equal(line['reason'], tested['reason']);
          await eventually(async () => {
            const shown = (await daemon.api('GET', `${EXITS}/${account.username}`)).json as { state: string };
            assert.equal(shown.state, 'down');
          });
          await daemon.api('PATCH', `${EXITS}/${account.username}`, {
            upstreams: [upstreamOf(address), upstreamOf(good)],
          });
          const client = await connectThrough(account, '127.0.0.1', target.port);
          client.send('GET / HTTP/1.0\r\n\r\n');
          assert.equal(seenAddress((await client.readToEnd()).toString()), '127.0.0.1');
        }
      });
    });
  }
});

/** A TLS server that sends text before it is asked; returns its port. */
async function startTalker(scope: Scope, tls: { cert: Buffer; key: Buffer }): Promise<number> {
  const server = createServer(tls, (socket) => {
    socket.on('error', () => {});
    socket.write('220 mail.example.net');
  });
  scope.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
