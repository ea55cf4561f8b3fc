// Allowed clients: the client addresses and networks from which an account may log in. An empty list allows every client.
import { includesAddress } from './address-list.js';

/** Whether the account may be used from this address. Clients of a Unix socket without a PROXY header have none. */
export function isAllowedClient(allowedClients: readonly string[], client: string): boolean {
  return allowedClients.length === 0 || includesAddress(allowedClients, client);
}
