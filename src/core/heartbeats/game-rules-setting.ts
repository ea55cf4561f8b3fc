// The game rules as a setting: those of the configuration file, until others are saved, which then hold for new flows.
import { type Actor, DAEMON } from '../audit/audit.js';
import type { SettingStore } from '../settings/setting-store.js';
import { createTurns } from '../turns.js';
import {
  type CompilePattern,
  createGameRules,
  type GameRule,
  GameRuleError,
  type GameRules,
} from './game-rules.js';

/** Where saved rules are kept, as JSON; empty: those of the file. A change by another process calls for `reload`. */
export const GAME_RULES_KEY = 'heartbeats.games';

export type GameRulesSaved =
  | { readonly ok: true }
  /** `path` is the place of the fault: `[2].match.ports[0]`. */
  | { readonly ok: false; readonly path: string; readonly message: string };

export interface GameRulesSetting extends GameRules {
  readonly rules: () => readonly GameRule[];
  readonly source: () => 'file' | 'console';
  save(rules: readonly GameRule[], by: Actor): Promise<GameRulesSaved>;
  /** Goes back to the rules of the file. */
  forget(by: Actor): Promise<void>;
  reload(): Promise<void>;
  /** Called when other rules hold. */
  onChanged(listener: (rules: readonly GameRule[]) => void): void;
}

/** Throws GameRuleError when the file's rules cannot be read. */
export function createGameRulesSetting({
  settings,
  fileRules,
  compile,
}: {
  settings: SettingStore;
  fileRules: readonly GameRule[];
  compile: CompilePattern;
}): GameRulesSetting {
  const ofFile = { rules: fileRules, read: createGameRules(fileRules, compile), source: 'file' as const };
  let current: { rules: readonly GameRule[]; read: GameRules; source: 'file' | 'console' } = ofFile;
  const inTurn = createTurns();
  const listeners: ((rules: readonly GameRule[]) => void)[] = [];

  function hold(next: typeof current): void {
    current = next;
    for (const listener of listeners) listener(next.rules);
  }

  const write = async (rules: readonly GameRule[] | null, by: Actor): Promise<void> => {
    await settings.set(GAME_RULES_KEY, rules === null ? '' : JSON.stringify(rules), {
      by,
      action: 'settings.games',
      object: { type: 'settings', id: GAME_RULES_KEY, name: 'game rules' },
      before: { rules: current.rules },
      after: { rules: rules ?? ofFile.rules },
    });
  };

  return {
    start: (flow) => current.read.start(flow),
    rules: () => current.rules,
    source: () => current.source,

    save: (rules, by = DAEMON) =>
      inTurn(GAME_RULES_KEY, async () => {
        let read: GameRules;
        try {
          read = createGameRules(rules, compile);
        } catch (error) {
          if (!(error instanceof GameRuleError)) throw error;
          return { ok: false, path: error.path, message: error.message };
        }
        await write(rules, by);
        hold({ rules, read, source: 'console' });
        return { ok: true };
      }),

    forget: (by = DAEMON) =>
      inTurn(GAME_RULES_KEY, async () => {
        if (current.source === 'file') return;
        await write(null, by);
        hold(ofFile);
      }),

    reload: () =>
      inTurn(GAME_RULES_KEY, async () => {
        const text = (await settings.get(GAME_RULES_KEY)) ?? '';
        if (text === '') {
          hold(ofFile);
          return;
        }
        const rules = JSON.parse(text) as GameRule[];
        hold({ rules, read: createGameRules(rules, compile), source: 'console' });
      }),

    onChanged: (listener) => void listeners.push(listener),
  };
}
