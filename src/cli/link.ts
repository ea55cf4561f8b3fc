// Which address the command line's links name: the one that was set, or else a guess from the configured listener.
import { networkInterfaces } from 'node:os';
import type { Config } from '../config.js';
import { type LinkAddress, linkAddress } from '../core/accounts/proxy-link.js';
import { createPublicAddressSetting } from '../core/accounts/public-address-setting.js';
import type { SettingStore } from '../core/settings/setting-store.js';

/** Rejects when the database cannot be read. */
export async function readLinkAddress(
  { socks }: Pick<Config, 'socks'>,
  settings: SettingStore,
): Promise<LinkAddress> {
  const setting = createPublicAddressSetting({
    settings,
    ofFile: { host: socks.publicHost, port: socks.publicPort },
  });
  await setting.reload();
  const listener = { host: socks.host[0] ?? 'localhost', port: socks.port };
  return linkAddress(setting.current(), listener, { host: interfaceAddress(), guess: 'interface' });
}

/** What to tell of an address that was guessed, or a port that is not known; null for one that was set. */
export function guessNote({ host, port, guess }: LinkAddress): string | null {
  if (port === 0)
    return 'The link has no port yet: with socks.port 0 the daemon chooses one at each start. The console shows the link with it; set socks.port for one that stays.';
  if (guess === null) return null;
  const from = guess === 'listener' ? 'the address that socks.host listens on' : 'an address of this machine';
  return `The link names ${host}: ${from}, a guess. Players behind another address need socks.publicHost (in the configuration, or in the console's settings).`;
}

/** The first address of this machine that is not loopback. */
function interfaceAddress(): string {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return outside?.address ?? '127.0.0.1';
}
