// The sessions of agents and what was said in them.
import type { Knex } from 'knex';
import type { AgentSessionStore, HistoryLimits } from '../core/agents/run-ports.js';
import type { AgentSession, HistoryEntry, Run, SessionMessage } from '../core/agents/runs.js';
import { containing } from './like.js';

interface SessionRow {
  key: string;
  agent: string;
  created_at: number | string;
  last_used_at: number | string;
  messages: number;
  bytes: number | string;
}

interface MessageRow {
  position: number | string;
  session: string;
  run_id: string;
  role: string;
  content: string;
  bytes: number | string;
  at: number | string;
}

export function createAgentSessionStore(db: Knex): AgentSessionStore {
  return {
    async list({ agent, search, after, limit }) {
      const newestFirst = [{ column: 'last_used_at', order: 'desc' }, { column: 'key' }];
      const query = db('agent_sessions').orderBy(newestFirst).limit(limit);
      if (agent !== undefined) query.where({ agent });
      if (search !== undefined) query.where(containing(db, 'key', search));
      if (after !== undefined) {
        const { lastUsedAt, key } = after;
        query.where((later) =>
          later
            .where('last_used_at', '<', lastUsedAt)
            .orWhere((same) => same.where('last_used_at', lastUsedAt).where('key', '>', key)),
        );
      }
      const rows: SessionRow[] = await query;
      return rows.map(toSession);
    },

    async get(key) {
      const row: SessionRow | undefined = await db('agent_sessions').where({ key }).first();
      return row ? toSession(row) : null;
    },

    async messages(session) {
      const rows: MessageRow[] = await db('session_messages').where({ session }).orderBy('position');
      return rows.map(toMessage);
    },

    remove: (key) =>
      db.transaction(async (trx) => {
        await trx('session_messages').where({ session: key }).delete();
        return (await trx('agent_sessions').where({ key }).delete()) > 0;
      }),

    trim: (before) =>
      db.transaction(async (trx) => {
        const old = trx('agent_sessions').where('last_used_at', '<', before).select('key');
        await trx('session_messages').whereIn('session', old).delete();
        return Number(await trx('agent_sessions').where('last_used_at', '<', before).delete());
      }),
  };
}

/** What was said in a session, oldest first. */
export async function readHistory(db: Knex, session: string): Promise<HistoryEntry[]> {
  const rows: MessageRow[] = await db('session_messages').where({ session }).orderBy('position');
  return rows.map(toEntry);
}

/** Adds a run's message and its reply to the session, which is made when there is none, and cuts the history to `limits`. */
export async function appendToSession(
  trx: Knex.Transaction,
  run: Run,
  reply: string,
  at: number,
  limits: HistoryLimits,
): Promise<void> {
  const { session: key, message } = run;
  if (key === null || message === null) return;
  await trx('agent_sessions')
    .insert({ key, agent: run.agent, created_at: at, last_used_at: at, messages: 0, bytes: 0 })
    .onConflict('key')
    .merge(['agent', 'last_used_at']);
  const entry = (role: string, content: string) => ({
    session: key,
    run_id: run.id,
    role,
    content,
    bytes: Buffer.byteLength(content),
    at,
  });
  await trx('session_messages').insert([entry('user', message), entry('assistant', reply)]);
  await cut(trx, key, limits);
}

/** Removes the oldest exchanges until the history is within `limits`; what is left begins with a user's message. */
async function cut(trx: Knex.Transaction, session: string, limits: HistoryLimits): Promise<void> {
  const newestFirst: MessageRow[] = await trx('session_messages')
    .where({ session })
    .orderBy('position', 'desc')
    .select('position', 'bytes', 'role');
  let messages = 0;
  let bytes = 0;
  let count = 0;
  let total = 0;
  let keptFrom = Number.POSITIVE_INFINITY;
  for (const row of newestFirst) {
    count++;
    total += Number(row.bytes);
    if (count > limits.maxMessages || total > limits.maxBytes) break;
    if (row.role !== 'user') continue;
    messages = count;
    bytes = total;
    keptFrom = Number(row.position);
  }
  const all = trx('session_messages').where({ session });
  if (messages === 0) await all.delete();
  else await all.where('position', '<', keptFrom).delete();
  await trx('agent_sessions').where({ key: session }).update({ messages, bytes });
}

function toSession(row: SessionRow): AgentSession {
  return {
    key: row.key,
    agent: row.agent,
    createdAt: Number(row.created_at),
    lastUsedAt: Number(row.last_used_at),
    messages: row.messages,
    bytes: Number(row.bytes),
  };
}

function toEntry(row: MessageRow): HistoryEntry {
  return { role: row.role === 'assistant' ? 'assistant' : 'user', content: row.content };
}

function toMessage(row: MessageRow): SessionMessage {
  return { ...toEntry(row), at: Number(row.at), runId: row.run_id };
}
