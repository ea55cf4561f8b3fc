// A TLS thread that fails is restarted with its listeners on the same ports.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TlsGateway } from '../../../src/proxy/tls/gateway.js';
import { makeCertificate, servedAt } from '../../helpers/certificate.js';
import { eventually } from '../../helpers/eventually.js';
import { needs } from '../../helpers/programs.js';

it('a failed TLS thread is restarted with its listeners', needs('openssl'), async (t) => {
  const { cert, keyText: key, fingerprint } = makeCertificate(t);
  const errors: string[] = [];
  const gateway = new TlsGateway({
    maxHandshakes: 10,
    maxHandshakesPerSource: 10,
    maxHandshakesPerSecond: 1_000,
    handshakeTimeoutMs: 10_000,
    maxConnections: 10,
    log: { warn() {}, error: (_, message) => void errors.push(message) },
  });
  t.after(() => gateway.stop());
  const spec = {
    id: 1,
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
  const inUse = await gateway.listen({ ...spec, id: 2, port: opened.port });
  assert.deepEqual(inUse, { code: 'EADDRINUSE' });

  gateway.setMaterial(1, { cert: 'no certificate', key: 'no key' });
  await eventually(() => assert.deepEqual(errors, ['TLS thread failed; restarting']));
  gateway.setMaterial(1, { cert, key });
  await eventually(async () => assert.equal(await servedAt(url), fingerprint));
  opened.close();
  await eventually(() => assert.rejects(servedAt(url)));
});
