// The public address in proxy links: the configuration's, until an operator saves another one.
import { type Actor, differences } from '../audit/audit.js';
import { createSetting, type Refuse, type Reloadable, refuseNone } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import type { PublicAddress } from './proxy-link.js';

const PUBLIC_ADDRESS_KEY = 'socks.public';

export interface PublicAddressSetting extends Reloadable {
  /** Null when neither the console nor the configuration sets it. */
  current(): PublicAddress;
  /** The value saved in the console; null when the configuration applies. */
  saved(): PublicAddress;
  /** Saves the address, unless `refuse` returns a refusal for the stored one, which it then returns. */
  save<Refusal = never>(
    address: PublicAddress,
    by: Actor,
    refuse?: Refuse<PublicAddress, Refusal>,
  ): Promise<Refusal | null>;
}

const NOTHING: PublicAddress = { host: null, port: null };

export function createPublicAddressSetting({
  settings,
  ofFile,
}: {
  settings: SettingStore;
  /** The value from the configuration. */
  ofFile: PublicAddress;
}): PublicAddressSetting {
  const setting = createSetting<PublicAddress>({
    store: settings,
    key: PUBLIC_ADDRESS_KEY,
    initial: NOTHING,
    parse: (text) => ({ ...NOTHING, ...(text === '' ? {} : (JSON.parse(text) as Partial<PublicAddress>)) }),
    format: (address) => JSON.stringify(address),
  });
  return {
    key: PUBLIC_ADDRESS_KEY,
    reload: setting.reload,
    current() {
      const { host, port } = setting.value();
      return { host: host ?? ofFile.host, port: port ?? ofFile.port };
    },
    saved: setting.value,

    save: (value, by, refuse = refuseNone) =>
      setting.save((stored) => {
        const { before, after, differs } = differences({ ...stored }, { ...value });
        if (!differs) return null;
        const object = { type: 'settings', id: PUBLIC_ADDRESS_KEY, name: 'public-address' } as const;
        return { value, audit: { by, action: 'settings.public-address', object, before, after } };
      }, refuse),
  };
}
