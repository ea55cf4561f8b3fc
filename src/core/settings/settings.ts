// All settings of the process by key. Reloads a setting that another process, such as the command line, has changed.
import type { Reloadable } from './setting.js';

export interface Settings {
  /** Adds a setting and reads it; returns it. Rejects when it cannot be read. */
  open<Kind extends Reloadable>(setting: Kind): Promise<Kind>;
  /** Reads a setting again, then calls the listeners; a key that nobody has opened is passed over. Rejects as either does. */
  reload(key: string): Promise<void>;
  /** Of all that were opened. */
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
