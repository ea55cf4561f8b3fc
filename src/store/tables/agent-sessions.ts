// The sessions of agents and their messages.
import type { Knex } from 'knex';
import type { AgentSessionStore, HistoryLimits } from '../../core/agents/run-store.js';
import type { AgentSession, HistoryEntry, Run, SessionMessage } from '../../core/agents/runs.js';
import { getOrAdd, grouped } from '../../core/maps.js';
import type { StoreContext } from '../database.js';
import {
  containing,
  find,
  having,
  IDS_PER_STATEMENT,
  inTransaction,
  slices,
  toRow,
  updateEach,
} from '../sql.js';

interface MessageRow {
  position: number;
  session: string;
  role: HistoryEntry['role'];
  bytes: number;
}

export function createAgentSessionStore({ db, reads, scans }: StoreContext): AgentSessionStore {
  return {
    async list({ agent, search, after, limit }) {
      const newestFirst = [{ column: 'last_used_at', order: 'desc' }, { column: 'key' }];
      const query = (search === undefined ? reads : scans)('agent_sessions')
        .orderBy(newestFirst)
        .limit(limit);
      having(query, { agent });
      if (search !== undefined) query.where(containing(db, 'key', search));
      if (after !== undefined) {
        const { lastUsedAt, key } = after;
        query.where((later) =>
          later
            .where('last_used_at', '<', lastUsedAt)
            .orWhere((same) => same.where('last_used_at', lastUsedAt).where('key', '>', key)),
        );
      }
      return find<AgentSession>(query);
    },

    get: async (key) => (await find<AgentSession>(db('agent_sessions').where({ key })))[0] ?? null,

    messages: (session) =>
      find<SessionMessage>(
        db('session_messages')
          .where({ session })
          .orderBy('position')
          .select('role', 'content', 'at', 'run_id'),
      ),

    remove: (key) =>
      inTransaction(db, async (trx) => {
        await trx('session_messages').where({ session: key }).delete();
        return (await trx('agent_sessions').where({ key }).delete()) > 0;
      }),

    trim: (before) =>
      inTransaction(db, async (trx) => {
        const old = trx('agent_sessions').where('last_used_at', '<', before).select('key');
        await trx('session_messages').whereIn('session', old).delete();
        return Number(await trx('agent_sessions').where('last_used_at', '<', before).delete());
      }),
  };
}

/** The messages of each of these sessions, oldest first; no entry for an unknown session. */
export async function readHistories(
  db: Knex,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, HistoryEntry[]>> {
  const histories = new Map<string, HistoryEntry[]>();
  if (sessions.length === 0) return histories;
  const messages = db('session_messages').whereIn('session', sessions).orderBy('position');
  const rows: (HistoryEntry & { session: string })[] = await messages.select('session', 'role', 'content');
  for (const { session, ...entry } of rows) getOrAdd(histories, session, () => []).push(entry);
  return histories;
}

/** A message and its reply, to be added to a session. */
interface Exchange {
  readonly session: string;
  readonly agent: string;
  readonly runId: string;
  readonly message: string;
  readonly reply: string;
  readonly at: number;
}

/** The exchange that a run adds to its session; empty for a wake and for a run without a session. */
export function exchangeOf(run: Run, reply: string, at: number): Exchange[] {
  const { id: runId, agent, session, message } = run;
  return session === null || message === null ? [] : [{ session, agent, runId, message, reply, at }];
}

/** Adds exchanges, at most one per session. Creates missing sessions, and cuts the histories to `limits`. */
export async function appendToSessions(
  trx: Knex.Transaction,
  exchanges: readonly Exchange[],
  limits: HistoryLimits,
): Promise<void> {
  if (exchanges.length === 0) return;
  const rows = exchanges.map(({ session: key, agent, at }) =>
    toRow({ key, agent, createdAt: at, lastUsedAt: at, messages: 0, bytes: 0 }),
  );
  await trx('agent_sessions').insert(rows).onConflict('key').merge(['agent', 'last_used_at']);
  await trx('session_messages').insert(exchanges.flatMap(toMessageRows));
  const sessions = exchanges.map(({ session }) => session);
  await cut(trx, sessions, limits);
}

function toMessageRows({ session, runId: run_id, message, reply, at }: Exchange) {
  const row = (role: HistoryEntry['role'], content: string) => {
    const bytes = Buffer.byteLength(content);
    return { session, run_id, role, content, bytes, at };
  };
  return [row('user', message), row('assistant', reply)];
}

/** Removes the oldest exchanges of each session until its history is within `limits`. */
async function cut(trx: Knex.Transaction, sessions: readonly string[], limits: HistoryLimits): Promise<void> {
  const newestFirst: MessageRow[] = await trx('session_messages')
    .whereIn('session', sessions)
    .orderBy('position', 'desc')
    .select('session', 'position', 'bytes', 'role');
  const bySession = grouped(newestFirst, ({ session }) => session);
  const sizes: { key: string; values: { messages: number; bytes: number } }[] = [];
  const tooOld: MessageRow['position'][] = [];
  for (const [key, rows] of bySession) {
    const values = newestWithin(rows, limits);
    sizes.push({ key, values });
    tooOld.push(...rows.slice(values.messages).map(({ position }) => position));
  }
  for (const positions of slices(tooOld, IDS_PER_STATEMENT))
    await trx('session_messages').whereIn('position', positions).delete();
  await updateEach(trx, 'agent_sessions', 'key', { messages: 'integer', bytes: 'bigint' }, sizes);
}

/** The number and bytes of the newest messages within `limits`. The oldest of them is a message of the user. */
function newestWithin(newestFirst: readonly MessageRow[], limits: HistoryLimits) {
  let within = { messages: 0, bytes: 0 };
  let total = 0;
  for (const [i, { bytes, role }] of newestFirst.entries()) {
    total += bytes;
    if (i + 1 > limits.maxMessages || total > limits.maxBytes) break;
    if (role === 'user') within = { messages: i + 1, bytes: total };
  }
  return within;
}
