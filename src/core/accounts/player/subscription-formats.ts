// The formats of a subscription, each with the documentation that it follows. An entry behind a certificate is SOCKS5 over TLS where
// the format has a field for it, and otherwise HTTPS, which carries no UDP.
import { formatHostPort } from '../../addresses/ip.js';
import type { Entry } from './entries.js';
import { encoded, socksLink } from './proxy-link.js';

/** Those that a program can ask for by `?format=`, besides `pac` and `page`. */
export const SUBSCRIPTION_FORMATS = ['clash', 'sing-box', 'shadowrocket', 'v2rayn', 'links'] as const;
export type SubscriptionFormat = (typeof SUBSCRIPTION_FORMATS)[number];

interface SubscriptionText {
  readonly type: string;
  /** The end of the file's name. */
  readonly extension: string;
  readonly text: string;
}

/** The entries as a whole configuration. @param title the name of the service, and of the group of entries */
export function subscriptionText(
  format: SubscriptionFormat,
  entries: readonly Entry[],
  title: string,
): SubscriptionText {
  // A group may not have the name of an entry.
  const group = entries.some(({ name }) => name === title) ? `${title} ·` : title;
  return WRITERS[format](entries, group);
}

const WRITERS: Readonly<
  Record<SubscriptionFormat, (entries: readonly Entry[], title: string) => SubscriptionText>
> = {
  clash: (entries, title) => ({ type: 'text/yaml', extension: 'yaml', text: clash(entries, title) }),
  'sing-box': (entries, title) => ({
    type: 'application/json',
    extension: 'json',
    text: `${JSON.stringify(singBox(entries, title), null, 2)}\n`,
  }),
  shadowrocket: (entries) => list(entries, shadowrocketLink, 'base64'),
  v2rayn: (entries) => list(entries, v2raynLink, 'base64'),
  links: (entries) => list(entries, plainLink, 'utf8'),
};

function list(
  entries: readonly Entry[],
  link: (entry: Entry) => string | null,
  encoding: 'base64' | 'utf8',
): SubscriptionText {
  const lines = entries.flatMap((entry) => link(entry) ?? []).map((line) => `${line}\n`);
  return { type: 'text/plain', extension: 'txt', text: Buffer.from(lines.join('')).toString(encoding) };
}

const TEST_URL = 'http://www.gstatic.com/generate_204';
const TEST_SECONDS = 300;
/** The server refuses them; programs reach them directly. */
const PRIVATE_NETWORKS = ['10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

/** A configuration of Clash and mihomo (wiki.metacubex.one/config). JSON is YAML (YAML 1.2 §1.3). */
function clash(entries: readonly Entry[], title: string): string {
  const proxies = entries.map(clashProxy);
  const names = proxies.map(({ name }) => name);
  const test = { type: 'url-test', url: TEST_URL, interval: TEST_SECONDS };
  const groups =
    names.length > 1
      ? [
          { name: title, type: 'select', proxies: [`${title} auto`, ...names] },
          { name: `${title} auto`, ...test, proxies: names },
        ]
      : [{ name: title, type: 'select', proxies: names }];
  const rules = [...PRIVATE_NETWORKS.map((net) => `IP-CIDR,${net},DIRECT,no-resolve`), `MATCH,${title}`];
  const items = (key: string, values: readonly unknown[]): string =>
    [`${key}:`, ...values.map((value) => `  - ${JSON.stringify(value)}`)].join('\n');
  const parts = [
    'mode: rule',
    items('proxies', proxies),
    items('proxy-groups', groups),
    items('rules', rules),
  ];
  return `${parts.join('\n')}\n`;
}

/** wiki.metacubex.one/config/proxies/socks: `tls: true`, `udp: true`; …/proxies/http: `tls: true # https`. */
export function clashProxy({ name, host, port, isTls, isSocks, hasUdp, username, password }: Entry) {
  const to = { name, type: isSocks ? 'socks5' : 'http', server: host, port, username, password };
  return { ...to, ...(isTls ? { tls: true } : {}), ...(hasUdp ? { udp: true } : {}) };
}

/** A configuration of sing-box 1.12 or later (sing-box.sagernet.org/configuration): a TUN device whose traffic goes through an entry. */
function singBox(entries: readonly Entry[], title: string): object {
  const proxies = entries.filter(isForHttps).map(singBoxOutbound);
  const tags = proxies.map(({ tag }) => tag);
  const test = {
    type: 'urltest',
    tag: `${title} auto`,
    outbounds: tags,
    url: TEST_URL,
    interval: `${TEST_SECONDS}s`,
  };
  const hasSeveral = tags.length > 1;
  return {
    dns: {
      servers: [
        { type: 'tcp', tag: 'through', server: '1.1.1.1', detour: title },
        { type: 'local', tag: 'local' },
      ],
      final: 'through',
    },
    inbounds: [
      { type: 'tun', tag: 'tun', address: ['172.19.0.1/30', 'fdfe:dcba:9876::1/126'], auto_route: true },
    ],
    outbounds: [
      { type: 'selector', tag: title, outbounds: hasSeveral ? [test.tag, ...tags] : tags },
      ...(hasSeveral ? [test] : []),
      ...proxies,
      { type: 'direct', tag: 'direct' },
    ],
    route: {
      rules: [
        { action: 'sniff' },
        { protocol: 'dns', action: 'hijack-dns' },
        { ip_is_private: true, outbound: 'direct' },
      ],
      final: title,
      auto_detect_interface: true,
      // The server's own name is resolved without the server.
      default_domain_resolver: 'local',
    },
  };
}

/** …/configuration/outbound/socks has no `tls`; …/outbound/http: "TLS configuration". */
export function singBoxOutbound({ name, host, port, isTls, isSocks, hasUdp, username, password }: Entry) {
  const to = { tag: name, server: host, server_port: port, username, password };
  if (isTls) return { type: 'http', ...to, tls: { enabled: true, server_name: host } };
  if (!isSocks) return { type: 'http', ...to };
  return { type: 'socks', ...to, version: '5', ...(hasUdp ? {} : { network: 'tcp' }) };
}

/** Whether an entry can be written without SOCKS5 over TLS. */
const isForHttps = ({ isTls, isHttp }: Entry): boolean => !isTls || isHttp;

/** Shadowrocket: `scheme://`, `user:password@host:port` in base64, `#` and the name. null: clients split at the first ":" and "@". */
export function shadowrocketLink(entry: Entry): string | null {
  const { name, host, port, username, password } = entry;
  if (/[:@]/.test(username) || password.includes('@') || !isForHttps(entry)) return null;
  const inner = Buffer.from(`${username}:${password}@${formatHostPort(host, port)}`).toString('base64');
  return `${schemeOf(entry, 'socks')}://${inner}#${encodeURIComponent(name)}`;
}

/**
 * v2rayN (ServiceLib/Handler/Fmt/SocksFmt.cs): `socks://`, `user:password` in base64, `@host:port#name`. It reads no HTTPS proxies;
 * other programs of this list do.
 */
function v2raynLink(entry: Entry): string | null {
  const { name, host, port, isTls, isSocks, username, password } = entry;
  if (isTls || !isSocks) return plainLink(entry);
  if (username.includes(':')) return null;
  const user = Buffer.from(`${username}:${password}`).toString('base64url');
  return `socks://${user}@${formatHostPort(host, port)}#${encodeURIComponent(name)}`;
}

/** `socks5h://`, `http://` or `https://user:password@host:port#name`, percent-encoded, as curl reads it. */
function plainLink(entry: Entry): string | null {
  if (!isForHttps(entry)) return null;
  const { name, host, port, username, password } = entry;
  const link = socksLink({ username, password }, { host, port });
  return `${link.replace(/^socks5h/, schemeOf(entry, 'socks5h'))}#${encoded(name)}`;
}

const schemeOf = ({ isTls, isSocks }: Entry, socks: string): string =>
  isTls ? 'https' : isSocks ? socks : 'http';

/** The programs that name themselves in `User-Agent`, the special ones first: several call themselves Mozilla too. */
const PROGRAMS: readonly (readonly [RegExp, SubscriptionFormat | 'page'])[] = [
  // "HiddifyNext/4.1.1 (android) like ClashMeta v2ray sing-box".
  [/sing-?box|\bSF[AIMT]\b|hiddify/i, 'sing-box'],
  [/clash|mihomo|stash/i, 'clash'],
  [/shadowrocket/i, 'shadowrocket'],
  [/v2ray|neko(box|ray)|streisand|v2box/i, 'v2rayn'],
  [/^mozilla/i, 'page'],
];

/** The format for a program; for an unknown one the list in base64, which most read. */
export const formatFor = (userAgent: string): SubscriptionFormat | 'page' =>
  PROGRAMS.find(([program]) => program.test(userAgent))?.[1] ?? 'v2rayn';

/** What programs show of the account. Each figure in bytes; null: no limit, no end. */
interface SubscriptionFacts {
  readonly title: string;
  readonly up: number;
  readonly down: number;
  readonly quota: number | null;
  readonly expiresAt: number | null;
  readonly fileName: string;
  readonly page: string;
  readonly supportUrl: string | null;
}

const UPDATE_HOURS = 12;

/**
 * Headers as programs read them. Clash for Windows: "content-disposition: attachment; filename=…", "profile-update-interval …
 * 以小时为单位" (in hours), "subscription-userinfo: upload=…; download=…; total=…; expire=…", "profile-web-page-url" (its wiki, URL
 * Scheme). Hiddify (its wiki, URL Scheme): "Profile-Title" may be `base64:…`, "Support-Url".
 */
export function subscriptionHeaders(facts: SubscriptionFacts): Record<string, string> {
  const { title, up, down, quota, expiresAt, fileName, page, supportUrl } = facts;
  // Without a figure, programs show that there is no limit.
  const userinfo = [
    ...[`upload=${up}`, `download=${down}`],
    ...(quota === null ? [] : [`total=${quota}`]),
    ...(expiresAt === null ? [] : [`expire=${Math.floor(expiresAt / 1000)}`]),
  ];
  return {
    'Subscription-Userinfo': userinfo.join('; '),
    'Profile-Update-Interval': String(UPDATE_HOURS),
    'Profile-Title': `base64:${Buffer.from(title).toString('base64')}`,
    'Profile-Web-Page-Url': page,
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
    ...(supportUrl === null ? {} : { 'Support-Url': supportUrl }),
  };
}
