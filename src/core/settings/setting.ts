// A setting that operators change at run time: text in the database, the parsed value in memory.
import type { AuditRecord } from '../audit/audit.js';
import { createTurns } from '../turns.js';
import type { SettingStore } from './setting-store.js';

/** A value in memory that is reloaded when another process changes it. */
export interface Reloadable {
  /** The key of the setting in the change log. */
  readonly key: string;
  /** Reads the value from the database. Rejects when it cannot be read, and keeps the current value then. */
  reload(): Promise<void>;
}

export interface Setting<Value> extends Reloadable {
  /** The current value. */
  value(): Value;
  /** Runs one change exclusively: no other change or reload runs meanwhile. Settles like `work`. */
  change<Result>(work: (change: Change<Value>) => Promise<Result>): Promise<Result>;
  /** Calls `listener` whenever the value was replaced, by any process. */
  onChanged(listener: (value: Value) => void): void;
}

/** The operations within a change. */
export interface Change<Value> {
  /** Reads the stored value, makes it the current value, and returns it. */
  load(): Promise<Value>;
  /** Stores `next` with its audit record, then makes it the current value. Rejects, and changes nothing, when it cannot be written. */
  write(next: Value, audit: AuditRecord): Promise<void>;
  /** Makes `next` the current value without storing it. */
  hold(next: Value): void;
}

export interface SettingOptions<Value> {
  readonly store: SettingStore;
  readonly key: string;
  /** The value until the first read. */
  readonly initial: Value;
  /** Parses the stored text, which is empty when nothing is stored. Throws for an invalid text. */
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
