// /etc/hosts (hosts(5)) in memory: read at the start, and again after each change.
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parseIp } from '../../core/addresses/ip.js';
import { tryOr } from '../../core/errors.js';

export type HostsFile = ReturnType<typeof openHostsFile>;

/** Addresses by lower-case name. A line is an address, names, and an optional `#` comment; other lines are passed over. */
export function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address === undefined || parseIp(address) === null) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (!known) hosts.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}

/** Opens a hosts file; a missing or unreadable one counts as empty. Watches its folder, because editors replace files. */
export function openHostsFile(path = '/etc/hosts') {
  let hosts = new Map<string, string[]>();
  const reload = (): void => {
    // Without a hosts file only DNS is used.
    hosts = parseHosts(tryOr('', () => readFileSync(path, 'utf8')));
  };
  reload();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(path)) reload();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // Without a watcher (inotify limit reached) changes have no effect until the next start.
  }
  return {
    /** Addresses of a lower-case name, in file order; empty when the file does not have it. */
    lookup: (name: string): readonly string[] => hosts.get(name) ?? [],
    close: (): void => watcher?.close(),
  };
}
