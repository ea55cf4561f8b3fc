// A TLS thread that fails is restarted with its listeners on the same ports, as soon as these are free.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { it, type TestContext } from 'node:test';
import { TlsGateway } from '../../../src/proxy/tls/gateway.js';
import { makeCertificate, servedAt } from '../../helpers/certificate.js';
import { eventually } from '../../helpers/eventually.js';
import { needs } from '../../helpers/programs.js';

/** Makes a gateway, and opens a listener. */
async function start(t: TestContext) {
  const { cert, keyText: key, fingerprint } = makeCertificate(t);
  const errors: string[] = [];
  const gateway = new TlsGateway({
    maxHandshakes: 10,
    maxHandshakesPerSource: 10,
    maxHandshakesPerSecond: 1_000,
    handshakeTimeoutMs: 10_000,
    maxConnections: 10,
    dup: (fd) => fd,
    log: { warn() {}, error: (_, message) => void errors.push(message) },
  });
  t.after(() => gateway.stop());
  const spec = {
    id: 1,
    fd: null,
    host: '127.0.0.1',
    port: 0,
    isDualStack: false,
    path: '/nowhere',
    material: { cert, key },
  };
  const opened = await gateway.listen(spec);
  if ('code' in opened) return assert.fail(opened.code);
  const url = `https://127.0.0.1:${opened.port}`;
  assert.equal(await servedAt(url), fingerprint);
  const fail = async (): Promise<void> => {
    gateway.setMaterial(1, { cert: 'no certificate', key: 'no key' });
    await eventually(() => assert.deepEqual(errors, ['TLS thread failed; restarting']));
    gateway.setMaterial(1, { cert, key });
  };
  return { gateway, spec, opened, url, fingerprint, errors, fail };
}

it('a failed TLS thread is restarted with its listeners', needs('openssl'), async (t) => {
  const { gateway, spec, opened, url, fingerprint, fail } = await start(t);
  const inUse = await gateway.listen({ ...spec, id: 2, port: opened.port });
  assert.deepEqual(inUse, { code: 'EADDRINUSE' });
  await fail();
  await eventually(async () => assert.equal(await servedAt(url), fingerprint));
  opened.close();
  await eventually(() => assert.rejects(servedAt(url)));
});

it(
  'a listener that the restarted TLS thread cannot open is opened when its port is free',
  needs('openssl'),
  async (t) => {
    const { gateway, opened, url, fingerprint, errors, fail } = await start(t);
    await fail();
    const other = createServer((socket) => socket.destroy());
    await eventually(async () => {
      other.listen(opened.port, '127.0.0.1');
      await once(other, 'listening');
    });
    t.after(() => other.close());
    await eventually(() => assert.deepEqual(errors.slice(1), ['restarted thread cannot listen; will retry']));
    assert.equal(gateway.isListening, false);
    other.close();
    await eventually(async () => assert.equal(await servedAt(url), fingerprint));
    assert.equal(gateway.isListening, true);
  },
);
