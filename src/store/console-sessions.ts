// The console_sessions table.
import type { Knex } from 'knex';
import type { ConsoleSessionStore } from '../core/auth/console-sessions.js';

interface SessionRow {
  hash: string;
  username: string;
  address: string;
  created_at: number | string;
  used_at: number | string;
  credentials: string | null;
}

export function createConsoleSessionStore(db: Knex): ConsoleSessionStore {
  return {
    async all() {
      const rows: SessionRow[] = await db('console_sessions');
      return rows.map(({ hash, username, address, created_at, used_at, credentials }) => ({
        hash,
        username,
        address,
        createdAt: Number(created_at),
        usedAt: Number(used_at),
        credentials,
      }));
    },

    async add({ hash, username, address, createdAt, usedAt, credentials }) {
      await db('console_sessions').insert({
        hash,
        username,
        address,
        created_at: createdAt,
        used_at: usedAt,
        credentials,
      });
    },

    async used(hash, at) {
      await db('console_sessions').where({ hash }).update({ used_at: at });
    },

    async renew(hash, credentials) {
      await db('console_sessions').where({ hash }).update({ credentials });
    },

    async remove(hashes) {
      await db('console_sessions').whereIn('hash', hashes).delete();
    },
  };
}
