// The certificate and key of admin.tls: which files are refused, with which message.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readTlsFiles } from '../../src/config.js';
import { makeCertificate } from '../helpers/certificate.js';
import { loadText, messageOf } from '../helpers/config-file.js';
import { needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

const messageFor = (cert: string, key: string) => messageOf((async () => readTlsFiles({ cert, key }))());

describe('readTlsFiles', needs('openssl'), () => {
  const scope = suiteScope();
  const [own, other] = [makeCertificate(scope), makeCertificate(scope)];
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-tls-'));
  scope.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('reads a certificate and its key, and does not show the key', () => {
    const pair = readTlsFiles({ cert: own.certFile, key: own.keyFile });
    assert.equal(pair?.expiresAt, own.expiresAt);
    assert.equal(pair.key.reveal(), own.keyText);
    const secret = own.keyText.split('\n')[1] ?? '';
    assert.ok(secret.length > 40);
    assert.ok(!(JSON.stringify(pair) + inspect(pair, { depth: 9 })).includes(secret));
  });

  it('returns null without files', () => {
    assert.equal(readTlsFiles({ cert: null, key: null }), null);
  });

  it('names the configuration key, the file and the error, for both files at once', async () => {
    const message = await messageFor('/nowhere/cert.pem', folder);
    assert.match(message, /admin\.tls\.cert: the file \/nowhere\/cert\.pem cannot be read \(ENOENT\)/);
    assert.match(message, new RegExp(`admin\\.tls\\.key: the file ${folder} cannot be read \\(EISDIR\\)`));
  });

  it('refuses files without a certificate or key in PEM format, and does not quote them', async () => {
    const invalid = file('invalid.pem', 'hunter2');
    const message = await messageFor(invalid, invalid);
    assert.match(message, /admin\.tls\.cert: the file \S+ contains no certificate in PEM format/);
    assert.match(message, /admin\.tls\.key: the file \S+ contains no private key in PEM format/);
    assert.doesNotMatch(message, /hunter2/);
    assert.match(await messageFor(file('empty.pem', ''), own.keyFile), /contains no certificate/);
    assert.match(
      await messageFor(own.keyFile, own.certFile),
      /contains no certificate[\s\S]*contains no private key/,
    );
    const der = Buffer.from(own.cert.replace(/-----.*-----|\s/g, ''), 'base64');
    assert.match(
      await messageFor(file('cert.der', der), own.keyFile),
      /contains no certificate in PEM format/,
    );
  });

  it('refuses a key of another certificate', async () => {
    const message = await messageFor(own.certFile, other.keyFile);
    assert.match(
      message,
      /admin\.tls\.key: the private key in \S+key\.pem does not match the certificate in \S+cert\.pem/,
    );
  });

  it('refuses a key that is protected by a passphrase', async () => {
    const locked = join(folder, 'locked.pem');
    execFileSync('openssl', ['pkey', '-in', own.keyFile, '-aes256', '-passout', 'pass:x', '-out', locked]);
    assert.match(await messageFor(own.certFile, locked), /admin\.tls\.key: .*is protected by a passphrase/);
  });

  it('refuses a chain with an invalid second certificate', async () => {
    const broken = file(
      'chain.pem',
      `${own.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    );
    assert.match(await messageFor(broken, own.keyFile), /admin\.tls\.cert: .* is not usable \(ERR_OSSL/);
  });
});

describe('admin.tls', () => {
  it('needs both files or none', async () => {
    for (const [given, missing] of [
      ['cert', 'key'],
      ['key', 'cert'],
    ]) {
      const message = await messageOf(loadText(`admin: { tls: { ${given}: a.pem } }`));
      assert.match(
        message,
        new RegExp(`admin\\.tls\\.${missing}: found nothing; .*admin\\.tls\\.${given} is set`),
      );
    }
  });

  it('may be null, or set by variables', async () => {
    const none = { cert: null, key: null, handshakeTimeoutMs: 10_000 };
    assert.deepEqual((await loadText('admin: { tls: null }')).config.admin.tls, none);
    const env = { PULSEGATE_ADMIN__TLS__CERT: 'c.pem', PULSEGATE_ADMIN__TLS__KEY: 'k.pem' };
    const { config } = await loadText('admin: { tls: null }', { env });
    assert.deepEqual(config.admin.tls, { ...none, cert: 'c.pem', key: 'k.pem' });
  });

  it('limits the timeout of the handshake', async () => {
    for (const allowed of ['10ms', '1m']) await loadText(`admin: { tls: { handshakeTimeout: ${allowed} } }`);
    for (const refused of ['9ms', '61s'])
      assert.match(
        await messageOf(loadText(`admin: { tls: { handshakeTimeout: ${refused} } }`)),
        /admin\.tls\.handshakeTimeout: found "\w+"; allowed: .*from 10ms to 1m/,
      );
  });
});
