// What a host name in settings may be: of listeners, of proxy links, in the Host header and in PAC rules.
import { isIP } from 'node:net';

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

/** A host name, or `*.name` for every name below it. Underscores are allowed: container engines use them. */
export const NAME_OR_WILDCARD =
  /^(?:\*\.)?(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Whether `text` is an IP address or a host name. Digits and dots that are no IPv4 address are neither. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text));
}
