// Configurations for client programs of players, one function per format. Each names the documentation that it follows.
import { formatHostPort } from '../../addresses/ip.js';
import { hasControl } from '../../text.js';
import type { Entry } from './entries.js';
import { socksLink } from './proxy-link.js';
import { clashProxy, shadowrocketLink, singBoxOutbound } from './subscription-formats.js';

/** All formats, in display order. */
export const CLIENT_FORMATS = ['link', 'plain', 'clash', 'sing-box', 'proxifier', 'shadowrocket'] as const;
type ClientFormat = (typeof CLIENT_FORMATS)[number];

type ClientAccess = Pick<Entry, 'username' | 'password' | 'host' | 'port'>;

/** The texts as of `clientText`, and the names of the files to download; null for text to paste. */
export const clientTexts = (access: ClientAccess) =>
  CLIENT_FORMATS.map((format) => ({
    format,
    text: clientText(format, access),
    fileName: FILE_NAMES[format] ?? null,
  }));

/** @returns null when the format cannot represent the user name or password, for example a colon in a colon-separated format */
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
  shadowrocket: (access) => shadowrocketLink(entryOf(access)),
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

/** A `proxies` entry of Clash and mihomo, without a whole configuration. */
function clash(access: ClientAccess): string {
  return `proxies:\n  - ${JSON.stringify(clashProxy(entryOf(access)))}\n`;
}

function singBox(access: ClientAccess): string {
  return `${JSON.stringify({ outbounds: [singBoxOutbound(entryOf(access))] }, null, 2)}\n`;
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

const entryOf = (access: ClientAccess): Entry => ({
  ...access,
  name: `${access.username}@${access.host}`,
  isTls: false,
  isSocks: true,
  isHttp: true,
  hasUdp: true,
});

const XML_MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const xml = (text: string): string => text.replace(/[&<>]/g, (mark) => XML_MARKS[mark] ?? mark);
