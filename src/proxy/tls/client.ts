// TLS towards an upstream proxy: the handshake, with the check of its certificate.
import { readFileSync } from 'node:fs';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { ProxyTls } from '../../core/exits/exit.js';
import { codeOf } from '../io/node/stream.js';

/**
 * Makes the handshake on a connected socket with `allowHalfOpen`, and calls `done` once, later. After a failure the socket is closed.
 * @param done `failure` is for the log: the code of a system or TLS error, such as ERR_TLS_CERT_ALTNAME_INVALID, or `fingerprint-SHA256` of
 *   the proxy; null: it has succeeded
 */
export function secure(
  raw: Socket,
  { host, ca, fingerprint }: ProxyTls,
  done: (failure: string | null, secured: TLSSocket) => void,
): void {
  const options: ConnectionOptions = {
    socket: raw,
    host,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: fingerprint === null,
  };
  // RFC 6066 §3: no addresses.
  if (isIP(host) === 0) options.servername = host;
  let unread: string | null = null;
  try {
    if (ca !== null) options.ca = readFileSync(ca);
  } catch (error) {
    unread = `ca-file-${codeOf(error as NodeJS.ErrnoException)}`;
  }
  const secured = connect(options);
  let isOver = false;
  const finish = (failure: string | null): void => {
    if (isOver) return;
    isOver = true;
    if (failure !== null) secured.destroy();
    done(failure, secured);
  };
  raw.on('error', () => {});
  secured.on('error', (error: NodeJS.ErrnoException) => finish(codeOf(error)));
  secured.once('close', () => finish('closed'));
  secured.once('secureConnect', () => {
    if (fingerprint === null) return finish(null);
    const found = secured.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase();
    finish(found === fingerprint ? null : `fingerprint-${found}`);
  });
  if (unread !== null) process.nextTick(finish, unread);
}
