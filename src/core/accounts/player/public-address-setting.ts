// The public address in proxy links: the configuration's, until an operator saves another one.
import { createReplacedSetting, type Reloadable, type Replace } from '../../settings/setting.js';
import type { SettingStore } from '../../settings/setting-store.js';
import type { PublicAddress } from './proxy-link.js';

const PUBLIC_ADDRESS_KEY = 'socks.public';

export interface PublicAddressSetting extends Reloadable {
  /** Null when neither the console nor the configuration sets it. */
  current(): PublicAddress;
  /** The value saved in the console; null when the configuration applies. */
  saved(): PublicAddress;
  readonly save: Replace<PublicAddress>;
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
  const setting = createReplacedSetting<PublicAddress>({
    store: settings,
    key: PUBLIC_ADDRESS_KEY,
    name: 'public-address',
    shown: (address) => ({ ...address }),
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
    save: setting.replace,
  };
}
