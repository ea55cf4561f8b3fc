// The rules of the players' proxy auto-configuration files, stored as a setting.
import { createReplacedSetting, type Reloadable, type Replace } from '../../settings/setting.js';
import type { SettingStore } from '../../settings/setting-store.js';
import { NO_PAC_RULES, type PacRules } from './pac.js';

const PAC_KEY = 'accounts.pac';

export interface PacSetting extends Reloadable {
  current(): PacRules;
  readonly save: Replace<PacRules>;
}

export function createPacSetting(settings: SettingStore): PacSetting {
  const setting = createReplacedSetting<PacRules>({
    store: settings,
    key: PAC_KEY,
    name: 'pac',
    shown: ({ rules, otherwise }) => ({
      rules: rules.map(({ match, via }) => `${via} ${match}`).join(', '),
      otherwise,
    }),
    initial: NO_PAC_RULES,
    parse: (text) => (text === '' ? NO_PAC_RULES : (JSON.parse(text) as PacRules)),
    format: (rules) => JSON.stringify(rules),
  });
  return {
    key: PAC_KEY,
    reload: setting.reload,
    current: setting.value,
    save: setting.replace,
  };
}
