// The game rules setting: the rules of the configuration file, until an operator saves others. Changes apply to new flows.
import type { Actor } from '../audit/audit.js';
import {
  createAuditedSetting,
  type Refuse,
  type Reloadable,
  type SettingStore,
} from '../settings/setting.js';
import {
  type CompilePattern,
  createGameRules,
  type GameRule,
  GameRuleError,
  type GameRules,
} from './game-rules.js';

export type GameRulesSaved<Refusal = never> =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: GameRuleError }
  /** Nothing was saved because `refuse` returned this. */
  | { readonly ok: false; readonly refusal: Refusal };

/** The rules, and whether the configuration file or the console has set them. */
export interface RulesInForce {
  readonly rules: readonly GameRule[];
  readonly source: 'file' | 'console';
}

export interface GameRulesSetting extends GameRules, Reloadable {
  inForce(): RulesInForce;
  /** Saves valid rules, unless `refuse` returns a refusal for the stored ones. */
  save<Refusal = never>(
    rules: readonly GameRule[],
    by: Actor,
    refuse?: Refuse<RulesInForce, Refusal>,
  ): Promise<GameRulesSaved<Refusal>>;
  /** Restores the rules of the configuration file. */
  forget(by: Actor): Promise<void>;
  /** Calls `listener` when the rules have changed. */
  onChanged(listener: (rules: readonly GameRule[]) => void): void;
}

interface Held extends RulesInForce {
  readonly compiled: GameRules;
}

/** Throws GameRuleError for an invalid rule in the configuration file. */
export function createGameRulesSetting({
  settings,
  fileRules,
  compile,
}: {
  settings: SettingStore;
  fileRules: readonly GameRule[];
  compile: CompilePattern;
}): GameRulesSetting {
  const ofFile: Held = { rules: fileRules, compiled: createGameRules(fileRules, compile), source: 'file' };
  const ofConsole = (rules: readonly GameRule[]): Held => ({
    rules,
    compiled: createGameRules(rules, compile),
    source: 'console',
  });
  // Stored as JSON; empty: the rules of the file.
  const setting = createAuditedSetting<Held>({
    store: settings,
    key: 'heartbeats.games',
    name: 'game rules',
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : ofConsole(JSON.parse(text) as GameRule[])),
    format: ({ rules, source }) => (source === 'file' ? '' : JSON.stringify(rules)),
    audited: (before, after) => ({ before: { rules: before.rules }, after: { rules: after.rules } }),
  });

  return {
    key: setting.key,
    reload: setting.reload,
    start: (flow) => setting.current().compiled.start(flow),
    inForce: setting.current,

    async save(rules, by, refuse) {
      let next: Held;
      try {
        next = ofConsole(rules);
      } catch (error) {
        if (!(error instanceof GameRuleError)) throw error;
        return { ok: false, error };
      }
      const refusal = await setting.save(() => next, by, refuse);
      return refusal === null ? { ok: true } : { ok: false, refusal };
    },

    async forget(by) {
      await setting.save(({ source }) => (source === 'console' ? ofFile : null), by);
    },

    onChanged: (listener) => setting.onChanged(({ rules }) => listener(rules)),
  };
}
