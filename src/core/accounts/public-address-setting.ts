// Where players connect, as links name it: what the configuration says, until an operator saves something else.

import { type Actor, differences } from '../audit/audit.js';
import type { SettingStore } from '../settings/setting-store.js';
import { createTurns } from '../turns.js';
import type { PublicAddress } from './proxy-link.js';

/** Where it is kept, as JSON; a change by another process calls for `reload`. */
export const PUBLIC_ADDRESS_KEY = 'socks.public';

export interface PublicAddressSetting {
  /** Null where neither the console nor the configuration has set anything. */
  current(): PublicAddress;
  /** What was saved in the console; null where the configuration holds. */
  saved(): PublicAddress;
  save(address: PublicAddress, by: Actor): Promise<void>;
  /** Reads it from the database. Rejects when it cannot be read. */
  reload(): Promise<void>;
}

const NOTHING: PublicAddress = { host: null, port: null };

export function createPublicAddressSetting({
  settings,
  ofFile,
}: {
  settings: Pick<SettingStore, 'get' | 'set'>;
  /** What the configuration says. */
  ofFile: PublicAddress;
}): PublicAddressSetting {
  let saved = NOTHING;
  const inTurn = createTurns();
  return {
    current: () => ({ host: saved.host ?? ofFile.host, port: saved.port ?? ofFile.port }),
    saved: () => saved,

    save: (next, by) =>
      inTurn(PUBLIC_ADDRESS_KEY, async () => {
        const { before, after, differs } = differences({ ...saved }, { ...next });
        if (!differs) return;
        await settings.set(PUBLIC_ADDRESS_KEY, JSON.stringify(next), {
          by,
          action: 'settings.public-address',
          object: { type: 'settings', id: PUBLIC_ADDRESS_KEY, name: 'public-address' },
          before,
          after,
        });
        saved = next;
      }),

    reload: () =>
      inTurn(PUBLIC_ADDRESS_KEY, async () => {
        const text = (await settings.get(PUBLIC_ADDRESS_KEY)) ?? '';
        saved = text === '' ? NOTHING : { ...NOTHING, ...(JSON.parse(text) as Partial<PublicAddress>) };
      }),
  };
}
