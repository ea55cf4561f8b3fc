// A setting that operators change at run time: text in the database, the parsed value in memory. Several processes can change it at the
// same moment: each change starts from the stored value, and is made again when another one came first.
import type { Actor, AuditRecord } from '../audit/audit.js';
import { succeeds } from '../errors.js';
import { createTurns } from '../time/turns.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** Writes the value, and `audit` to the audit log in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
  /**
   * Writes `next`, as `set` does, if the stored value is `current` (null: none is stored). Returns false when it is another one, which
   * another process may have written meanwhile, and writes nothing. Ends `ended` in the same transaction.
   */
  exchange(
    key: string,
    current: string | null,
    next: string,
    audit?: AuditRecord,
    ended?: EndedAccess,
  ): Promise<boolean>;
}

export interface CounterStore {
  /** Raises a number to `value`. Returns false when it is at least as large already, also because of another process. */
  raise(key: string, value: number): Promise<boolean>;
}

export interface EndedAccess {
  /** Whose; null: the administrator's. All its console sessions end. */
  readonly operatorId: string | null;
  /** Its API tokens are revoked, too. */
  readonly tokens: boolean;
}

/** A value in memory that is reloaded when another process changes it. */
export interface Reloadable {
  /** The key of the setting in the change log. */
  readonly key: string;
  /** Reads the value from the database. Rejects when it cannot be read, and keeps the current value then. */
  reload(): Promise<void>;
}

/** Returns why the stored value must not be changed; null: it may be. */
export type RefusalOf<Value, Refusal> = (stored: Value) => Refusal | null;

export interface Change<Value> {
  /**
   * Stores `next` with its audit record, if any, and ends `ended`, then makes it the current value. Rejects, and changes nothing, when it cannot
   * be written.
   */
  write(next: Value, audit?: AuditRecord, ended?: EndedAccess): Promise<void>;
  /** Makes `next` the current value without storing it, until the next change or reload. */
  hold(next: Value): void;
}

interface SettingOptions<Value> {
  readonly store: Pick<SettingStore, 'get' | 'exchange'>;
  readonly key: string;
  /** The value until the first read. */
  readonly initial: Value;
  /** Parses the stored text, which is empty when nothing is stored. Throws for an invalid text. Default: JSON, `initial` for none. */
  readonly parse?: (text: string) => Value;
  /** Default: JSON. */
  readonly format?: (value: Value) => string;
}

/** How often a change is made again. Each time, another process has written the setting. */
const MAX_TRIES = 100;

/** Another process has written the setting since the change began. Nothing was written. */
class WrittenMeanwhile extends Error {
  override readonly name = 'WrittenMeanwhile';
}

export function createSetting<Value>({
  store,
  key,
  initial,
  parse = (text) => (text === '' ? initial : (JSON.parse(text) as Value)),
  format = (value) => JSON.stringify(value),
}: SettingOptions<Value>) {
  let current = initial;
  /** The text of the current value; undefined: it is not the stored one. */
  let text: string | null | undefined;
  const inTurn = createTurns();
  const listeners: ((value: Value) => void)[] = [];

  function hold(next: Value, of: string | null | undefined): void {
    current = next;
    text = of;
    for (const listener of listeners) listener(next);
  }

  function adopt(stored: string | null): void {
    if (stored !== text) hold(parse(stored ?? ''), stored);
  }

  async function changeOnce<Result>(work: (change: Change<Value>) => Promise<Result>): Promise<Result> {
    let stored = await store.get(key);
    // The reload has reported an invalid text. The change replaces it, and starts from the value in memory.
    succeeds(() => adopt(stored));
    return work({
      async write(next, audit, ended) {
        const written = format(next);
        if (!(await store.exchange(key, stored, written, audit, ended))) throw new WrittenMeanwhile(key);
        stored = written;
        hold(next, written);
      },
      hold: (next) => hold(next, undefined),
    });
  }

  return {
    key,
    value: (): Value => current,
    reload: (): Promise<void> => inTurn(key, async () => adopt(await store.get(key))),

    /**
     * Reads the stored value, then runs one change exclusively: no other change or reload of this process runs meanwhile. Settles like
     * `work`, which runs again, on the new value, when another process has written one before `write`.
     */
    change: <Result>(work: (change: Change<Value>) => Promise<Result>): Promise<Result> =>
      inTurn(key, async () => {
        for (let tries = 1; ; tries++) {
          try {
            return await changeOnce(work);
          } catch (error) {
            if (!(error instanceof WrittenMeanwhile) || tries === MAX_TRIES) throw error;
          }
        }
      }),

    /** Calls `listener` whenever the value was replaced, by any process. */
    onChanged: (listener: (value: Value) => void): void => void listeners.push(listener),
  };
}

/** A setting whose changes the audit log shows. */
export type AuditedSetting<Value> = ReturnType<typeof createAuditedSetting<Value>>;

export function createAuditedSetting<Value>({
  name,
  audited,
  ...options
}: SettingOptions<Value> & {
  /** Of the setting in the audit log. */
  readonly name:
    | 'event-receivers'
    | 'exits'
    | 'game rules'
    | 'notices'
    | 'pac'
    | 'plans'
    | 'public-address'
    | 'retention'
    | 'time-zone'
    | 'whitelist';
  /** The values before and after a change, as the audit log shows them. */
  readonly audited: (before: Value, after: Value) => Audited;
}) {
  const { value, change, ...setting } = createSetting<Value>(options);
  const object = { type: 'settings', id: setting.key, name } as const;
  const action = name === 'game rules' ? 'settings.games' : (`settings.${name}` as const);
  return {
    ...setting,
    current: value,
    /**
     * Writes what `next` returns for the stored value; null, and a value in which nothing differs: writes nothing. When `refusalOf` returns
     * a refusal for the stored value, writes nothing and returns that.
     */
    save: <Refusal = never>(
      next: (stored: Value) => Value | null,
      by: Actor,
      refusalOf: RefusalOf<Value, Refusal> = noRefusal,
    ): Promise<Refusal | null> =>
      change(async ({ write }) => {
        const stored = value();
        const refusal = refusalOf(stored);
        if (refusal !== null) return refusal;
        const after = next(stored);
        if (after === null) return null;
        const { differs = true, ...values } = audited(stored, after);
        if (differs) await write(after, { by, action, object, ...values });
        return null;
      }),
  };
}

type Audited = Pick<AuditRecord, 'before' | 'after'> & { readonly differs?: boolean };

export const noRefusal = (): null => null;

/** All settings of the process by key. Reloads a setting that another process, such as the command line, has changed. */
export function createSettings() {
  const byKey = new Map<string, Reloadable>();
  const listeners: ((key: string) => void | Promise<void>)[] = [];
  return {
    /** Reads a setting, adds it and returns it. Rejects when it cannot be read. */
    async open<Kind extends Reloadable>(setting: Kind): Promise<Kind> {
      await setting.reload();
      byKey.set(setting.key, setting);
      return setting;
    },

    /** Reads a setting again if it was opened, then calls the listeners. Rejects when either fails. */
    async reload(key: string): Promise<void> {
      await byKey.get(key)?.reload();
      for (const listener of listeners) await listener(key);
    },

    keys: (): string[] => [...byKey.keys()],

    onReloaded: (listener: (key: string) => void | Promise<void>): void => void listeners.push(listener),
  };
}
