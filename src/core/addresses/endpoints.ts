// What an address in settings may be: host names, URLs, paths of Unix sockets, ports.
import { parseIp } from './ip.js';

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

/** A host name, or `*.name` for every name below it. Underscores are allowed: container engines use them. */
export const NAME_OR_WILDCARD =
  /^(?:\*\.)?(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Whether `text` is an IP address or a host name. Digits and dots that are no IPv4 address are neither. */
export const isHost = (text: string): boolean =>
  parseIp(text) !== null || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text));

/** Returns whether a text is an http or https URL without credentials. */
export function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** unix(7): `sun_path` has 108 bytes with the final NUL. */
export const MAX_SOCKET_PATH_BYTES = 107;

export const isSocketPath = (path: string): boolean =>
  path !== '' && !path.includes('\0') && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;

export type PortRange = readonly [first: number, last: number];

const RANGE = /^(\d{1,5})(?:-(\d{1,5}))?$/;
const MAX_PORT = 65_535;

/** Parses a port (`7000`) or a range (`7100-7200`) of ports from 1 to 65535; null for other texts. */
export function parsePortRange(text: string): PortRange | null {
  const [, firstText, lastText = firstText] = RANGE.exec(text) ?? [];
  const first = Number(firstText);
  const last = Number(lastText);
  return first >= 1 && first <= last && last <= MAX_PORT ? [first, last] : null;
}
