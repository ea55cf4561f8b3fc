// All settings of the process by key. Reloads a setting that another process, such as the command line, has changed.
import type { Reloadable } from './setting.js';

export interface Settings {
  /** Reads a setting, adds it and returns it. Rejects when it cannot be read. */
  open<Kind extends Reloadable>(setting: Kind): Promise<Kind>;
  /** Reads a setting again if it was opened, then calls the listeners. Rejects when either fails. */
  reload(key: string): Promise<void>;
  /** The keys of all opened settings. */
  keys(): string[];
  /** Calls `listener` after each `reload`, with the key. */
  onReloaded(listener: (key: string) => void | Promise<void>): void;
}

export function createSettings(): Settings {
  const byKey = new Map<string, Reloadable>();
  const listeners: ((key: string) => void | Promise<void>)[] = [];
  return {
    async open(setting) {
      await setting.reload();
      byKey.set(setting.key, setting);
      return setting;
    },

    async reload(key) {
      await byKey.get(key)?.reload();
      for (const listener of listeners) await listener(key);
    },

    keys: () => [...byKey.keys()],

    onReloaded: (listener) => void listeners.push(listener),
  };
}
