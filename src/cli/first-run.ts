// What the very first start says: the administrator's password, once, and the commands to begin with.
import type { X509Certificate } from 'node:crypto';

export interface BannerOptions {
  /** In the journal the password is not shown: others may read it there, for ever. */
  readonly isJournal: boolean;
  /** What the admin API is served with; null: nothing, it speaks plain HTTP. */
  readonly certificate: X509Certificate | null;
  readonly certificateFile: string;
}

/** The text for stderr. */
export function firstRunBanner(
  { username, password }: { username: string; password: string },
  ready: { readonly socks: readonly string[]; readonly admin: readonly string[] },
  { isJournal, certificate, certificateFile }: BannerOptions,
): string {
  if (isJournal) {
    return 'The administrator has a random password that is not written to the journal. Set one: pulsegate admin set-password\n';
  }
  const address = reachable(ready.admin[0]?.replace(/^https:\/\//, ''));
  const { origin, options } = certificate
    ? overTls(address, certificate, certificateFile)
    : { origin: `http://${address}`, options: '' };
  const api = `${origin}/ProxyAccount`;
  const login = `${options}-u '${username}:${password}'`;
  return `
  First start: the administrator's password is shown only this once.

    user name  ${username}
    password   ${password}

  The console, in a browser:
    ${origin}/
  List the accounts:
    curl ${login} ${api}/GetProxyAccountList
  Add an account:
    curl ${login} -H 'Content-Type: application/json' -d '{"Username":"player","Password":"secret"}' ${api}/AddProxyAccount
  Go through the proxy with it:
    curl -x socks5h://player:secret@${reachable(ready.socks[0])} http://example.com/

`;
}

/** An address that a command on this machine can connect to, for one that a listener is bound to. */
function reachable(address = ''): string {
  return address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}

/** The origin that the certificate is for, and what curl needs to reach it at `address` and to believe it. */
function overTls(
  address: string,
  certificate: X509Certificate,
  file: string,
): { origin: string; options: string } {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isOwnIssuer = certificate.checkIssued(certificate);
  const believe = isOwnIssuer ? `--cacert '${file.replaceAll("'", "'\\''")}' ` : '';
  if (certificate.checkIP(host.replace(/^\[|\]$/g, '')))
    return { origin: `https://${address}`, options: believe };
  const [, name] = /\bDNS:([\w.-]+)/.exec(certificate.subjectAltName ?? '') ?? [];
  // It is for no name that could be written here, as one with an asterisk.
  if (name === undefined) return { origin: `https://${address}`, options: '--insecure ' };
  return { origin: `https://${name}:${port}`, options: `${believe}--resolve ${name}:${port}:${host} ` };
}
