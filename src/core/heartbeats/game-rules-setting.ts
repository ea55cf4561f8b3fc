// The game rules setting: the rules of the configuration file, until an operator saves others. Changes apply to new flows.
import { type Actor, DAEMON } from '../audit/audit.js';
import { type Change, createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import {
  type CompilePattern,
  createGameRules,
  type GameRule,
  GameRuleError,
  type GameRules,
} from './game-rules.js';

export const GAME_RULES_KEY = 'heartbeats.games';

export type GameRulesSaved = { readonly ok: true } | { readonly ok: false; readonly error: GameRuleError };

export interface GameRulesSetting extends GameRules, Reloadable {
  readonly rules: () => readonly GameRule[];
  readonly source: () => 'file' | 'console';
  save(rules: readonly GameRule[], by: Actor): Promise<GameRulesSaved>;
  /** Restores the rules of the configuration file. */
  forget(by: Actor): Promise<void>;
  /** Calls `listener` when the rules have changed. */
  onChanged(listener: (rules: readonly GameRule[]) => void): void;
}

interface Held {
  readonly rules: readonly GameRule[];
  readonly compiled: GameRules;
  readonly source: 'file' | 'console';
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
  const setting = createSetting<Held>({
    store: settings,
    key: GAME_RULES_KEY,
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : ofConsole(JSON.parse(text) as GameRule[])),
    format: ({ rules, source }) => (source === 'file' ? '' : JSON.stringify(rules)),
  });

  const writeAs = (next: Held, by: Actor, { write }: Change<Held>): Promise<void> =>
    write(next, {
      by,
      action: 'settings.games',
      object: { type: 'settings', id: GAME_RULES_KEY, name: 'game rules' },
      before: { rules: setting.value().rules },
      after: { rules: next.rules },
    });

  return {
    key: GAME_RULES_KEY,
    reload: setting.reload,
    start: (flow) => setting.value().compiled.start(flow),
    rules: () => setting.value().rules,
    source: () => setting.value().source,

    save: (rules, by = DAEMON) =>
      setting.change(async (change) => {
        let next: Held;
        try {
          next = ofConsole(rules);
        } catch (error) {
          if (!(error instanceof GameRuleError)) throw error;
          return { ok: false, error };
        }
        await writeAs(next, by, change);
        return { ok: true };
      }),

    forget: (by = DAEMON) =>
      setting.change(async (change) => {
        if (setting.value().source === 'console') await writeAs(ofFile, by, change);
      }),

    onChanged: (listener) => setting.onChanged(({ rules }) => listener(rules)),
  };
}
