// The banner of the first start: the generated administrator password and example commands.
import type { X509Certificate } from 'node:crypto';

export interface BannerOptions {
  /** Whether stderr goes to the journal. The journal is kept and others can read it, so the banner omits the password. */
  readonly isJournal: boolean;
  /** The certificate of the admin API; null when it uses plain HTTP. */
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
    return 'A random administrator password was generated and is not written to the journal. To set one: pulsegate admin set-password\n';
  }
  const address = reachable(ready.admin[0]?.replace(/^https:\/\//, ''));
  const { origin, options } = certificate
    ? overTls(address, certificate, certificateFile)
    : { origin: `http://${address}`, options: '' };
  const api = `${origin}/ProxyAccount`;
  const login = `${options}-u '${username}:${password}'`;
  return `
  First start: this administrator password is shown only once.

    user name  ${username}
    password   ${password}

  Open the console in a browser:
    ${origin}/
  List accounts:
    curl ${login} ${api}/GetProxyAccountList
  Add an account:
    curl ${login} -H 'Content-Type: application/json' -d '{"Username":"player","Password":"secret"}' ${api}/AddProxyAccount
  Use the proxy with this account:
    curl -x socks5h://player:secret@${reachable(ready.socks[0])} http://example.com/

`;
}

/** Replaces a wildcard address with the loopback address that a client on this machine can connect to. */
const reachable = (address = ''): string =>
  address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');

/** An origin that the certificate is valid for, and the curl options to connect to it at `address` and to trust it. */
function overTls(
  address: string,
  certificate: X509Certificate,
  file: string,
): { origin: string; options: string } {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const isSelfSigned = certificate.checkIssued(certificate);
  const trustOption = isSelfSigned ? `--cacert '${file.replaceAll("'", "'\\''")}' ` : '';
  if (certificate.checkIP(host.replace(/^\[|\]$/g, '')))
    return { origin: `https://${address}`, options: trustOption };
  const [, name] = /\bDNS:([\w.-]+)/.exec(certificate.subjectAltName ?? '') ?? [];
  // The certificate has no usable host name, for example only a wildcard.
  if (name === undefined) return { origin: `https://${address}`, options: '--insecure ' };
  return { origin: `https://${name}:${port}`, options: `${trustOption}--resolve ${name}:${port}:${host} ` };
}
