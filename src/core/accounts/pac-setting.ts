// The rules of the players' proxy auto-configuration files, stored as a setting.
import { type Actor, differences } from '../audit/audit.js';
import { createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { NO_PAC_RULES, type PacRules } from './pac.js';

export const PAC_KEY = 'accounts.pac';

export interface PacSetting extends Reloadable {
  current(): PacRules;
  save(rules: PacRules, by: Actor): Promise<void>;
}

export function createPacSetting(settings: SettingStore): PacSetting {
  const setting = createSetting<PacRules>({
    store: settings,
    key: PAC_KEY,
    initial: NO_PAC_RULES,
    parse: (text) => (text === '' ? NO_PAC_RULES : (JSON.parse(text) as PacRules)),
    format: (rules) => JSON.stringify(rules),
  });
  return {
    key: PAC_KEY,
    reload: setting.reload,
    current: setting.value,
    save: (next, by) =>
      setting.change(async ({ write }) => {
        const { before, after, differs } = differences(shown(setting.value()), shown(next));
        if (!differs) return;
        const object = { type: 'settings', id: PAC_KEY, name: 'pac' } as const;
        await write(next, { by, action: 'settings.pac', object, before, after });
      }),
  };
}

const shown = ({ rules, otherwise }: PacRules) => ({
  rules: rules.map(({ match, via }) => `${via} ${match}`).join(', '),
  otherwise,
});
