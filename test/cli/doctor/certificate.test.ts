// `pulsegate doctor` on the certificate of admin.tls, at times around its start and end.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkCertificates } from '../../../src/cli/doctor/files.js';
import { makeCertificate } from '../../helpers/certificate.js';
import { loadText } from '../../helpers/config-file.js';
import { needs } from '../../helpers/programs.js';
import { suiteScope } from '../../helpers/suite.js';

const DAY_MS = 86_400_000;

describe('checkCertificates', needs('openssl'), () => {
  const scope = suiteScope();
  const own = makeCertificate(scope, { days: 30 });
  const check = async (cert: string, key: string, now: number) => {
    const { config } = await loadText(`admin: { tls: { cert: ${cert}, key: ${key} } }`);
    return checkCertificates(config, now);
  };
  const stateAt = async (now: number) => {
    const [finding] = await check(own.certFile, own.keyFile, now);
    return finding?.state;
  };

  it('fails after the end and before the start, and warns in the last fourteen days', async () => {
    const { expiresAt } = own;
    assert.equal(await stateAt(expiresAt), 'stop');
    assert.equal(await stateAt(expiresAt - 1), 'warn');
    assert.equal(await stateAt(expiresAt - 14 * DAY_MS), 'warn');
    assert.equal(await stateAt(expiresAt - 14 * DAY_MS - 1), 'ok');
    assert.equal(await stateAt(expiresAt - 30 * DAY_MS), 'ok');
    assert.equal(await stateAt(expiresAt - 30 * DAY_MS - 1), 'stop');
  });

  it('fails for an invalid pair', async () => {
    const [finding] = await check('/nowhere/cert.pem', own.keyFile, Date.now());
    assert.equal(finding?.state, 'stop');
    assert.match(finding.text, /admin\.tls\.cert: the file \/nowhere\/cert\.pem cannot be read/);
  });

  it('also checks the certificates of listeners', async () => {
    const listener = `{ host: "::1", port: 1, tls: { cert: ${own.certFile}, key: /nowhere/key.pem } }`;
    const { config } = await loadText(`socks: { listeners: [{ host: "::1", port: 2 }, ${listener}] }`);
    const [finding] = await checkCertificates(config, Date.now());
    assert.deepEqual([finding?.check, finding?.state], ['certificate of listener 1', 'stop']);
    assert.match(
      finding?.text ?? '',
      /socks\.listeners\[1\]\.tls\.key: the file \/nowhere\/key\.pem cannot be read/,
    );
  });

  it('warns of a key that all users can read', async () => {
    chmodSync(own.keyFile, 0o640);
    assert.equal((await check(own.certFile, own.keyFile, Date.now())).length, 1);
    chmodSync(own.keyFile, 0o644);
    const [, finding] = await check(own.certFile, own.keyFile, Date.now());
    assert.deepEqual([finding?.state, /other users can read/.test(finding?.text ?? '')], ['warn', true]);
  });

  it('reports nothing without a certificate', async () => {
    assert.deepEqual(await checkCertificates((await loadText(null)).config, Date.now()), []);
  });
});
