// Configurations for client programs of players, one function per format. Each names the documentation that it follows.
import { formatHostPort } from '../../ip.js';
import { hasControl } from '../../text.js';
import { socksLink } from './proxy-link.js';

/** All formats, in display order. */
export const CLIENT_FORMATS = ['link', 'plain', 'clash', 'sing-box', 'proxifier', 'shadowrocket'] as const;
export type ClientFormat = (typeof CLIENT_FORMATS)[number];

/** Credentials and the server address. */
export interface ClientAccess {
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly port: number;
}

export interface ClientText {
  readonly format: ClientFormat;
  /** Null when the format cannot represent the user name or password, for example a colon in a colon-separated format. */
  readonly text: string | null;
  /** Name of the file to download; null for text to paste. */
  readonly fileName: string | null;
}

export function clientTexts(access: ClientAccess): readonly ClientText[] {
  return CLIENT_FORMATS.map((format) => ({
    format,
    text: WRITERS[format](access),
    fileName: FILE_NAMES[format] ?? null,
  }));
}

/** @returns null when the format cannot represent the user name or password */
export function clientText(format: ClientFormat, access: ClientAccess): string | null {
  return WRITERS[format](access);
}

const FILE_NAMES: Partial<Readonly<Record<ClientFormat, string>>> = {
  clash: 'clash.yaml',
  'sing-box': 'sing-box.json',
  proxifier: 'pulsegate.ppx',
};

const WRITERS: Readonly<Record<ClientFormat, (access: ClientAccess) => string | null>> = {
  link: (access) => socksLink(access, access),
  plain,
  clash,
  'sing-box': singBox,
  proxifier,
  shadowrocket,
};

/** Whether XML 1.0 (§2.2) and line-based formats cannot represent the user name or the password. */
function isUnwritable({ username, password }: ClientAccess): boolean {
  const text = username + password;
  return hasControl(text) || /[\ufffe\uffff]/.test(text);
}

/** `host:port:user:password` for fingerprint browsers and multi-account tools: the password is the rest of the line. */
function plain(access: ClientAccess): string | null {
  const { username, password, host, port } = access;
  if (isUnwritable(access) || username.includes(':')) return null;
  return `${formatHostPort(host, port)}:${username}:${password}`;
}

/** A `proxies` entry of Clash and mihomo (wiki.metacubex.one/config/proxies/socks). JSON strings are YAML strings (YAML 1.2 §1.3). */
function clash({ username, password, host, port }: ClientAccess): string {
  const text = JSON.stringify;
  return [
    'proxies:',
    `  - name: ${text(nameOf(username, host))}`,
    '    type: socks5',
    `    server: ${text(host)}`,
    `    port: ${port}`,
    `    username: ${text(username)}`,
    `    password: ${text(password)}`,
    '    udp: true',
    '',
  ].join('\n');
}

/** A `socks` outbound of sing-box (sing-box.sagernet.org/configuration/outbound/socks). */
function singBox({ username, password, host, port }: ClientAccess): string {
  const outbound = {
    type: 'socks',
    tag: nameOf(username, host),
    server: host,
    server_port: port,
    version: '5',
    username,
    password,
  };
  return `${JSON.stringify({ outbounds: [outbound] }, null, 2)}\n`;
}

/**
 * A profile of Proxifier 4 for Windows (.ppx): all connections except to this machine use the proxy, which resolves names.
 * `Encryption mode="disabled"` allows a plain-text password.
 */
function proxifier(access: ClientAccess): string | null {
  if (isUnwritable(access)) return null;
  const { username, password, host, port } = access;
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<ProxifierProfile version="102" platform="Windows" product_id="0" product_minver="400">
  <Options>
    <Resolve>
      <AutoModeDetection enabled="false" />
      <ViaProxy enabled="true" />
      <ExclusionList OnlyFromListMode="false">%ComputerName%; localhost; *.local</ExclusionList>
    </Resolve>
    <Encryption mode="disabled" />
    <ConnectionLoopDetection enabled="true" resolve="true" />
    <ProcessOtherUsers enabled="false" />
    <ProcessServices enabled="false" />
    <HandleDirectConnections enabled="false" />
    <HttpProxiesSupport enabled="false" />
  </Options>
  <ProxyList>
    <Proxy id="100" type="SOCKS5">
      <Address>${xml(host)}</Address>
      <Port>${port}</Port>
      <Options>48</Options>
      <Authentication enabled="true">
        <Username>${xml(username)}</Username>
        <Password>${xml(password)}</Password>
      </Authentication>
    </Proxy>
  </ProxyList>
  <ChainList />
  <RuleList>
    <Rule enabled="true">
      <Name>Localhost</Name>
      <Targets>localhost; 127.0.0.1; %ComputerName%; ::1</Targets>
      <Action type="Direct" />
    </Rule>
    <Rule enabled="true">
      <Name>Default</Name>
      <Action type="Proxy">100</Action>
    </Rule>
  </RuleList>
</ProxifierProfile>
`;
}

/** The share link of Shadowrocket: `socks://`, `user:password@host:port` in base64, `#` and the name. */
function shadowrocket({ username, password, host, port }: ClientAccess): string | null {
  // Clients split the text at the first ":" and "@".
  if (/[:@]/.test(username) || password.includes('@')) return null;
  const inner = `${username}:${password}@${formatHostPort(host, port)}`;
  return `socks://${Buffer.from(inner).toString('base64')}#${encodeURIComponent(nameOf(username, host))}`;
}

const nameOf = (username: string, host: string): string => `${username}@${host}`;

const XML_MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const xml = (text: string): string => text.replace(/[&<>]/g, (mark) => XML_MARKS[mark] ?? mark);
