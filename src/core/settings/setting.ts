// A setting that operators change at run time: text in the database, the parsed value in memory.
import type { AuditRecord } from '../audit/audit.js';
import { createTurns } from '../turns.js';
import type { SettingStore } from './setting-store.js';

/** A value in memory that is reloaded when another process changes it. */
export interface Reloadable {
  /** Names it in the list of changes. */
  readonly key: string;
  /** Reads it from the database. Rejects when it cannot be read; what was held then stays. */
  reload(): Promise<void>;
}

export interface Setting<Value> extends Reloadable {
  /** What holds now. */
  value(): Value;
  /** Runs one change alone: no other change and no reload comes in between. Settles as `work` does. */
  change<Result>(work: (change: Change<Value>) => Promise<Result>): Promise<Result>;
  /** Calls `listener` whenever another value holds, whichever process has set it. */
  onChanged(listener: (value: Value) => void): void;
}

/** What a change may do. */
export interface Change<Value> {
  /** Reads what is stored, and holds it. */
  load(): Promise<Value>;
  /** Stores `next` with its entry in the audit log, then holds it. Rejects when it cannot be written: nothing changes then. */
  write(next: Value, audit: AuditRecord): Promise<void>;
  /** Holds `next` without storing it. */
  hold(next: Value): void;
}

export interface SettingOptions<Value> {
  readonly store: SettingStore;
  readonly key: string;
  /** What holds until it is read for the first time. */
  readonly initial: Value;
  /** @param text as stored; empty when nothing is. Throws when it cannot be read. */
  readonly parse: (text: string) => Value;
  readonly format: (value: Value) => string;
}

export function createSetting<Value>(options: SettingOptions<Value>): Setting<Value> {
  const { store, key, parse, format } = options;
  let current = options.initial;
  const inTurn = createTurns();
  const listeners: ((value: Value) => void)[] = [];

  const change: Change<Value> = {
    async load() {
      change.hold(parse((await store.get(key)) ?? ''));
      return current;
    },
    async write(next, audit) {
      await store.set(key, format(next), audit);
      change.hold(next);
    },
    hold(next) {
      current = next;
      for (const listener of listeners) listener(next);
    },
  };

  return {
    key,
    value: () => current,
    change: (work) => inTurn(key, () => work(change)),
    reload: () => inTurn(key, async () => void (await change.load())),
    onChanged: (listener) => void listeners.push(listener),
  };
}
