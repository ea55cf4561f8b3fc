// The one way to turn a client away: send the last frame, let it arrive, and give the socket back.
import type { Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import { formatHostPort } from '../core/ip.js';
import { clientAddress } from './client-end.js';
import type { SocksContext } from './context.js';
import { Reply } from './protocol.js';

/** How long a refused client may take to close its side before the socket is destroyed, in ms. */
const LINGER_MS = 1_000;

/**
 * Sends `frame` and closes. What the client still sends is read and dropped until it closes too, because closing
 * over unread bytes makes the kernel send a reset, and a reset can overtake the frame.
 */
export function refuse(client: Socket, frame: Uint8Array): void {
  if (client.destroyed) return;
  client.removeAllListeners('data');
  const linger = setTimeout(() => client.destroy(), LINGER_MS);
  client.once('end', () => client.destroy());
  client.once('close', () => clearTimeout(linger));
  client.end(frame);
  client.resume();
}

/** What a client is told when the name of its destination has no address. */
export const REPLY_BY_RESOLVE_FAILURE = {
  'not-found': Reply.hostUnreachable,
  timeout: Reply.hostUnreachable,
  'too-many': Reply.generalFailure,
} as const;

/** The line that tells an operator why a player did not get where it wanted. */
export function logRefusal(
  context: Pick<SocksContext, 'log'>,
  account: Account,
  client: Socket,
  destination: { readonly host: string; readonly port: number },
  reason: string,
): void {
  context.log.info(
    {
      account: account.username,
      client: clientAddress(client),
      destination: formatHostPort(destination.host, destination.port),
      reason,
    },
    'destination refused',
  );
}
