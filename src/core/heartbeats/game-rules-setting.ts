// The game rules setting: the rules of the configuration file, until an operator saves others. Changes apply to new flows.
import type { Actor } from '../audit/audit.js';
import { createAuditedSetting, type Refuse, type SettingStore } from '../settings/setting.js';
import { type CompilePattern, createGameRules, type GameRule, GameRuleError } from './game-rules.js';

/** The rules, and whether the configuration file or the console has set them. */
export interface RulesInForce {
  readonly rules: readonly GameRule[];
  readonly source: 'file' | 'console';
}

export type GameRulesSetting = ReturnType<typeof createGameRulesSetting>;

/** Throws GameRuleError for an invalid rule in the configuration file. */
export function createGameRulesSetting(
  store: SettingStore,
  fileRules: readonly GameRule[],
  compile: CompilePattern,
) {
  const checked = (rules: readonly GameRule[], source: RulesInForce['source']): RulesInForce => {
    createGameRules(rules, compile);
    return { rules, source };
  };
  const ofFile = checked(fileRules, 'file');
  // Stored as JSON; empty: the rules of the file.
  const setting = createAuditedSetting<RulesInForce>({
    store,
    key: 'heartbeats.games',
    name: 'game rules',
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : checked(JSON.parse(text) as GameRule[], 'console')),
    format: ({ rules, source }) => (source === 'file' ? '' : JSON.stringify(rules)),
    audited: (before, after) => ({ before: { rules: before.rules }, after: { rules: after.rules } }),
  });

  return {
    key: setting.key,
    reload: setting.reload,
    inForce: setting.current,

    /** Saves valid rules, unless `refuse` returns a refusal for the stored ones. */
    async save<Refusal = never>(
      rules: readonly GameRule[],
      by: Actor,
      refuse?: Refuse<RulesInForce, Refusal>,
    ): Promise<{ ok: true } | { ok: false; error: GameRuleError } | { ok: false; refusal: Refusal }> {
      let next: RulesInForce;
      try {
        next = checked(rules, 'console');
      } catch (error) {
        if (!(error instanceof GameRuleError)) throw error;
        return { ok: false, error };
      }
      const refusal = await setting.save(() => next, by, refuse);
      return refusal === null ? { ok: true } : { ok: false, refusal };
    },

    /** Restores the rules of the configuration file. */
    async forget(by: Actor): Promise<void> {
      await setting.save(({ source }) => (source === 'console' ? ofFile : null), by);
    },

    /** Calls `listener` when the rules have changed. */
    onChanged: (listener: (rules: readonly GameRule[]) => void): void =>
      setting.onChanged(({ rules }) => listener(rules)),
  };
}
