// Selects the protocol of a connection by its first byte, so that all protocols share one port.
import type { ClientProtocolName } from '../../core/sessions/session.js';
import type { ClientProtocol } from './client-protocol.js';
import type { HeadLimits } from './http/head.js';
import { HttpProxy } from './http/http-proxy.js';
import { SOCKS4_VERSION, Socks4Handshake } from './socks4.js';
import { VERSION } from './socks5.js';
import { Socks5Handshake } from './socks5-handshake.js';

/** Null: no protocol begins with this byte, or the listener does not serve it. */
export function protocolOf(
  firstByte: number | undefined,
  served: readonly ClientProtocolName[],
  httpLimits: HeadLimits,
): ClientProtocol | null {
  const name = nameOf(firstByte);
  if (name === null || !served.includes(name)) return null;
  switch (name) {
    case 'socks5':
      return new Socks5Handshake();
    case 'socks4':
      return new Socks4Handshake();
    case 'http':
      return new HttpProxy(httpLimits);
  }
}

function nameOf(firstByte: number | undefined): ClientProtocolName | null {
  if (firstByte === VERSION) return 'socks5';
  if (firstByte === SOCKS4_VERSION) return 'socks4';
  return isLetter(firstByte) ? 'http' : null;
}

/** Every HTTP method begins with a letter. */
function isLetter(byte: number | undefined): boolean {
  const lower = (byte ?? 0) | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
