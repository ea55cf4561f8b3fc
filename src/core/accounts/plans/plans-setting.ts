// The operator's plans, stored as one setting.
import type { Actor } from '../../audit/audit.js';
import { createSetting, type Refuse, type Reloadable, refuseNone } from '../../settings/setting.js';
import type { SettingStore } from '../../settings/setting-store.js';
import type { Plan } from './plans.js';

const PLANS_KEY = 'accounts.plans';

export interface PlansSetting extends Reloadable {
  /** In the order in which they are offered. */
  list(): readonly Plan[];
  byName(name: string): Plan | null;
  /**
   * Replaces the stored plans by those that `next` returns for them, unless `refuse` returns a refusal for them, which it then returns.
   * Accounts to which a changed or removed plan was applied stay as they are.
   */
  save<Refusal = never>(
    next: (stored: readonly Plan[]) => readonly Plan[],
    by: Actor,
    refuse?: Refuse<readonly Plan[], Refusal>,
  ): Promise<Refusal | null>;
}

export function createPlansSetting({ settings }: { settings: SettingStore }): PlansSetting {
  const setting = createSetting<readonly Plan[]>({
    store: settings,
    key: PLANS_KEY,
    initial: [],
    parse: (text) => (text === '' ? [] : (JSON.parse(text) as Plan[])),
    format: (plans) => JSON.stringify(plans),
  });
  return {
    key: PLANS_KEY,
    reload: setting.reload,
    list: setting.value,
    byName: (name) => setting.value().find((plan) => plan.name === name) ?? null,
    save: (next, by, refuse = refuseNone) =>
      setting.save((stored) => {
        const plans = next(stored);
        const before = byName(stored);
        const after = byName(plans);
        const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
          (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
        );
        const differing = (of: Readonly<Record<string, Plan>>) =>
          Object.fromEntries(names.map((name) => [name, of[name] ?? null]));
        return {
          value: plans,
          audit: {
            by,
            action: 'settings.plans',
            object: { type: 'settings', id: PLANS_KEY, name: 'plans' },
            before: differing(before),
            after: differing(after),
          },
        };
      }, refuse),
  };
}

const byName = (plans: readonly Plan[]): Readonly<Record<string, Plan>> =>
  Object.fromEntries(plans.map((plan) => [plan.name, plan]));
