// The rules of the players' proxy auto-configuration files, stored as a setting.
import { type Actor, differences } from '../audit/audit.js';
import { createSetting, type Refuse, type Reloadable, refuseNone } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { NO_PAC_RULES, type PacRules } from './pac.js';

const PAC_KEY = 'accounts.pac';

export interface PacSetting extends Reloadable {
  current(): PacRules;
  /** Saves the rules, unless `refuse` returns a refusal for the stored ones, which it then returns. */
  save<Refusal = never>(
    rules: PacRules,
    by: Actor,
    refuse?: Refuse<PacRules, Refusal>,
  ): Promise<Refusal | null>;
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
    save: (value, by, refuse = refuseNone) =>
      setting.save((stored) => {
        const { before, after, differs } = differences(shown(stored), shown(value));
        if (!differs) return null;
        const object = { type: 'settings', id: PAC_KEY, name: 'pac' } as const;
        return { value, audit: { by, action: 'settings.pac', object, before, after } };
      }, refuse),
  };
}

const shown = ({ rules, otherwise }: PacRules) => ({
  rules: rules.map(({ match, via }) => `${via} ${match}`).join(', '),
  otherwise,
});
