// Makes self-signed certificates with openssl, and reads the certificate that a server sends to a client.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Secret, type TlsPair } from '../../src/config.js';
import type { Scope } from './suite.js';

export interface TestCertificate extends TlsPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly keyText: string;
  readonly fingerprint: string;
}

/** Makes a certificate for 127.0.0.1 and localhost, unless the test gives other names. The end of the test or suite removes it. */
export function makeCertificate(
  t: Scope,
  { names = 'DNS:localhost,IP:127.0.0.1', days = 30 }: { names?: string; days?: number } = {},
): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=pulsegate test', '-addext', `subjectAltName=${names}`];
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, ...subject, '-days', String(days), '-keyout', keyFile, '-out', certFile],
    { stdio: 'ignore' },
  );
  const cert = readFileSync(certFile, 'utf8');
  const keyText = readFileSync(keyFile, 'utf8');
  const certificate = new X509Certificate(cert);
  return {
    certFile,
    keyFile,
    cert,
    keyText,
    key: new Secret(keyText),
    certificate,
    fingerprint: certificate.fingerprint256,
    expiresAt: Date.parse(certificate.validTo),
  };
}

/** Returns the fingerprint of the certificate that a new client gets at `url`. */
export function servedAt(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
  });
}
