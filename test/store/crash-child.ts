// A program that changes a store without end. It reports on stdout the begin and the end of each change, so that crash.test.ts can
// kill it at any moment and know what must be stored.
import { writeSync } from 'node:fs';
import { openDaemonStore } from '../../src/store/store.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { addAccount, changeAccount } from '../helpers/stored-accounts.js';
import { account, heartbeat, KEEP_ALL } from './helpers.js';

export type Operation =
  | { readonly do: 'add'; readonly id: string }
  | { readonly do: 'update'; readonly id: string; readonly remarks: string }
  | { readonly do: 'append'; readonly id: string; readonly entries: number }
  | { readonly do: 'remove'; readonly id: string };

export type Line = { readonly begin: Operation } | { readonly done: true };

const CAP = { ...KEEP_ALL, maxPerAccount: 50 };

function report(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function run(dataDir: string): Promise<void> {
  const store = await openDaemonStore({
    dataDir,
    client: sqliteClient,
    busyTimeoutMs: 1000,
    onMigration() {},
  });
  const ids = (await store.accounts.all()).map((each) => each.id);
  const pick = () => ids[Math.floor(Math.random() * ids.length)];
  const perform = async (begin: Operation, work: () => Promise<unknown>) => {
    report({ begin });
    await work();
    report({ done: true });
  };

  for (;;) {
    const id = pick();
    const chance = Math.random();
    if (id === undefined || chance < 0.25) {
      const added = account();
      ids.push(added.id);
      await perform({ do: 'add', id: added.id }, () => addAccount(store.accounts, added));
    } else if (chance < 0.45) {
      const remarks = String(Math.random());
      const fields = { isEnabled: true, remarks, expiresAt: null };
      await perform({ do: 'update', id, remarks }, () => changeAccount(store.accounts, id, fields));
    } else if (chance < 0.85) {
      const entries = 1 + Math.floor(Math.random() * 40);
      const batch = Array.from({ length: entries }, () => heartbeat({ id, username: 'any' }));
      await perform({ do: 'append', id, entries }, () => store.heartbeats.append(batch, CAP));
    } else {
      ids.splice(ids.indexOf(id), 1);
      await perform({ do: 'remove', id }, () => store.accounts.removeMany([id]));
    }
  }
}

const [, , dataDir] = process.argv;
if (!dataDir) throw new Error('usage: crash-child.js DATA-FOLDER');
await run(dataDir);
