// Proxy auto-configuration files: which hosts browsers reach through the proxy. The operator's rules become a script in ECMAScript
// 3, which every system runs.
import { NAME_OR_WILDCARD } from '../../addresses/endpoints.js';
import { type Cidr, formatHostPort, parseCidr } from '../../addresses/ip.js';
import { differences } from '../../audit/audit.js';
import { type AuditedSetting, createAuditedSetting, type SettingStore } from '../../settings/setting.js';
import type { Entry } from './entries.js';

type PacWay = 'proxy' | 'direct';

interface PacRule {
  /** `example.com`, `*.example.com` (every name below it), an address or a network. */
  readonly match: string;
  readonly via: PacWay;
}

export interface PacRules {
  /** The first matching rule wins. */
  readonly rules: readonly PacRule[];
  /** For hosts without a matching rule. */
  readonly otherwise: PacWay;
}

export const MAX_PAC_RULES = 1_000;

/** Sends everything through the proxy. */
const NO_PAC_RULES: PacRules = { rules: [], otherwise: 'proxy' };

export type PacSetting = AuditedSetting<PacRules>;

export const createPacSetting = (store: SettingStore): PacSetting =>
  createAuditedSetting({
    store,
    key: 'accounts.pac',
    name: 'pac',
    initial: NO_PAC_RULES,
    audited: (before, after) => differences(auditedRules(before), auditedRules(after)),
  });

const auditedRules = ({ rules, otherwise }: PacRules) => ({
  rules: rules.map(({ match, via }) => `${via} ${match}`).join(', '),
  otherwise,
});

/** Returns whether a text can be a match. A Unicode name must be in its ASCII form, `xn--…`, which browsers pass to the script. */
export const isPacMatch = (text: string): boolean =>
  parseCidr(text) !== null || (NAME_OR_WILDCARD.test(text) && !/^[\d.]+$/.test(text));

/** Returns the ways to connect to the proxy, in a browser's form. Browsers use the first one that works. */
export function pacProxies(
  entries: readonly Pick<Entry, 'host' | 'port' | 'isTls' | 'isHttp' | 'isSocks'>[],
): string {
  const of = (way: string, isUsable: (entry: (typeof entries)[number]) => boolean): string[] =>
    entries.filter(isUsable).map(({ host, port }) => `${way} ${formatHostPort(host, port)}`);
  return [
    ...of('HTTPS', ({ isTls, isHttp }) => isTls && isHttp),
    ...of('PROXY', ({ isTls, isHttp }) => !isTls && isHttp),
    ...of('SOCKS5', ({ isTls, isSocks }) => !isTls && isSocks),
  ].join('; ');
}

/** Loopback and private addresses, which the proxy does not reach. Browsers connect to them directly, unless a rule differs. */
const PRIVATE = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
];

/**
 * Returns the script. The script does not resolve names, so networks match only hosts that are addresses.
 * @param proxies result of `pacProxies`
 * @param proxyHost reached directly, so that browsers can load the file and the player page
 */
export function pacFile({ rules, otherwise }: PacRules, proxies: string, proxyHost: string): string {
  const all: readonly PacRule[] = [
    ...(isPacMatch(proxyHost) ? [{ match: proxyHost, via: 'direct' } as const] : []),
    ...rules,
    ...PRIVATE.map((match): PacRule => ({ match, via: 'direct' })),
  ];
  const lines = all.map(({ match, via }) => `  ${literal([...patternOf(match), via === 'proxy' ? 1 : 0])}`);
  return SCRIPT.replace('@PROXIES@', () => literal(proxies))
    .replace('@RULES@', () => `[\n${lines.join(',\n')}\n]`)
    .replace('@OTHERWISE@', () => (otherwise === 'proxy' ? '1' : '0'));
}

/**
 * Returns the pattern of a match: a network as `4` or `6` and its prefix bits, a name unchanged, or the suffix of names below a
 * name.
 */
function patternOf(match: string): ['net' | 'name' | 'below', string] {
  const network = parseCidr(match);
  if (network) return ['net', bitsOf(network)];
  const name = match.toLowerCase();
  return name.startsWith('*.') ? ['below', name.slice(1)] : ['name', name];
}

function bitsOf({ bytes, length }: Cidr): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bytes.length === 4 ? '4' : '6') + bits.slice(0, length);
}

/** Returns a literal that has the same value in every version of JavaScript and in every encoding. */
function literal(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]|</g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const SCRIPT = `var PROXIES = @PROXIES@;
var RULES = @RULES@;
var OTHERWISE = @OTHERWISE@;

function bitsOfNumber(value, length) {
  var bits = value.toString(2);
  while (bits.length < length) bits = '0' + bits;
  return bits;
}

function bitsOfAddress(host) {
  var bits = '';
  var i;
  if (/^\\d{1,3}(\\.\\d{1,3}){3}$/.test(host)) {
    var octets = host.split('.');
    for (i = 0; i < 4; i++) bits += bitsOfNumber(Number(octets[i]), 8);
    return '4' + bits;
  }
  if (host.indexOf(':') < 0) return '';
  var halves = host.split('::');
  var head = halves[0] === '' ? [] : halves[0].split(':');
  var tail = halves.length < 2 || halves[1] === '' ? [] : halves[1].split(':');
  for (i = 0; i < head.length; i++) bits += bitsOfNumber(parseInt(head[i], 16), 16);
  for (i = head.length + tail.length; i < 8; i++) bits += '0000000000000000';
  for (i = 0; i < tail.length; i++) bits += bitsOfNumber(parseInt(tail[i], 16), 16);
  return '6' + bits;
}

function matches(kind, pattern, host, bits) {
  if (kind === 'net') return bits !== '' && bits.indexOf(pattern) === 0;
  if (kind === 'name') return host === pattern;
  return host.length > pattern.length && host.lastIndexOf(pattern) === host.length - pattern.length;
}

function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/^\\[|\\]$/g, '').replace(/\\.$/, '');
  var bits = bitsOfAddress(host);
  if (bits === '' && isPlainHostName(host)) return 'DIRECT';
  for (var i = 0; i < RULES.length; i++) {
    if (matches(RULES[i][0], RULES[i][1], host, bits)) return RULES[i][2] ? PROXIES : 'DIRECT';
  }
  return OTHERWISE ? PROXIES : 'DIRECT';
}
`;
