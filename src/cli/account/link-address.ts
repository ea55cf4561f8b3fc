// The server address in proxy links of the command line: the public address setting, or a guess from the listener.
import { networkInterfaces } from 'node:os';
import type { LinkAddress } from '../../core/accounts/player/proxy-link.js';
import type { Api } from '../shared/api.js';

/** The daemon would guess the host of the request, which a command's has none of. */
export async function readLinkAddress({ call }: Api): Promise<LinkAddress> {
  const { link } = await call('GET /settings/public-address');
  return link.guess === 'browser' ? { ...link, host: interfaceAddress(), guess: 'interface' } : link;
}

/** A note for the operator when the address is a guess or the port is unknown; null when the address is configured. */
export function guessedAddressNote({ host, port, guess }: LinkAddress): string | null {
  if (port === 0)
    return 'The port in the link is unknown: with socks.port 0 the daemon chooses a port at each start. The console shows the current port. Set socks.port for a fixed one.';
  if (guess === null) return null;
  const from = guess === 'listener' ? 'the address of socks.host' : 'an address of this machine';
  return `The address ${host} in the link is a guess: it is ${from}. If players connect to another address, set socks.publicHost (in the configuration or in the console).`;
}

/** The first address of this machine that is not loopback. */
function interfaceAddress(): string {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return outside?.address ?? '127.0.0.1';
}
