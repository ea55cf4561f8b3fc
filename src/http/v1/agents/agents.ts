// /api/v1/agents and agent-sessions: the agents of the configuration, messages to them, and their conversations; and what the routes of
// runs share with these.
import { z } from 'zod';
import type { SessionFilter } from '../../../core/agents/run-store.js';
import type { QueuedAnswer, AgentSession as StoredSession } from '../../../core/agents/runs.js';
import { SESSION_KEY } from '../../../core/agents/webhooks.js';
import type { AuditAction } from '../../../core/audit/audit.js';
import { withoutUndefined } from '../../../core/maps.js';
import { withTimes } from '../../../core/time/clock.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { type Answered, DONE, routesOf } from '../../api/route.js';
import { Bytes, Count, component, Guid, listOf, openPageOf, Time } from '../../api/schemas.js';
import { actorOf, type Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import { conversationCursors } from '../cursors.js';

const AgentName = z.string().min(1).max(128);
export const SessionKey = z.string().regex(SESSION_KEY);

/** The filters of both runs and conversations. */
export const AgentFilter = z.object({
  agent: AgentName.optional(),
  /** Runs: in message and reply. Conversations: in the key. */
  search: z.string().max(255).optional(),
});
export const Queued = component('QueuedRun', { runId: Guid, session: z.string().nullable() });

const NOT_FOUND = { agent: 'no-agent', run: 'no-run', session: 'no-conversation' } as const;

export const notFound = (what: keyof typeof NOT_FOUND): ProblemAnswer =>
  failure('not-found', NOT_FOUND[what]);

/** Writes an audit record of a caller's action on an agent or a run. */
export function recordAction(
  audit: Services['audit'],
  caller: Caller,
  action: AuditAction,
  object: { readonly type: 'run' | 'agent'; readonly id: string | null; readonly name: string | null },
): Promise<void> {
  // The key of the request was stored with the run.
  const by = { ...actorOf(caller), requestKey: undefined };
  return audit.add([{ by, action, object, before: null, after: null }]);
}

const REFUSALS: Readonly<Record<Extract<QueuedAnswer, { ok: false }>['reason'], ProblemAnswer>> = {
  'no-agent': notFound('agent'),
  'no-run': notFound('run'),
  'bad-message': invalid('body.message', 'blank'),
  'key-conflict': failure('conflict', 'fixed-session-key'),
  full: { problem: 'queue-full' },
  stopping: failure('unavailable', 'stopping'),
};

/** Returns the answer for a run that was queued or refused. */
export const queued = (answer: QueuedAnswer): Answered | ProblemAnswer =>
  answer.ok ? { body: { runId: answer.runId, session: answer.session } } : REFUSALS[answer.reason];

const Agent = component('Agent', {
  name: z.string(),
  /** `command`, `socket`, `http`, `openai`. */
  type: z.string(),
  /** `active` from a wake or a run until `idleAfter` has passed. */
  state: z.enum(['idle', 'active']),
  lastActiveAt: Time.nullable(),
  queued: Count,
  running: Count,
  /** The fixed session key; null: none. */
  sessionKey: z.string().nullable(),
  /** Whether webhooks may trigger it. */
  webhook: z.boolean(),
  /** `http`, `file`, `log`, `none`. */
  channel: z.string(),
});

const NameParams = z.object({ name: AgentName });

const { route } = routesOf('Agents');

export const agentRoutes = [
  route('GET /api/v1/agents', 'listAgents', 'agents:read', {
    summary: 'Agents of the configuration and their states.',
    success: [200, 'All of them.', listOf(Agent, 'Agents')],
    async handle(_input, { agents }) {
      return { body: { items: agents.control.agents().map((agent) => withTimes(agent, 'lastActiveAt')) } };
    },
  }),
  route('POST /api/v1/agents/{name}/messages', 'sendMessage', 'agents:write', {
    summary: 'Queues a run with a message, as the webhook would.',
    bulkBody: true,
    request: {
      params: NameParams,
      body: component('AgentMessage', {
        message: z.string().min(1).max(200_000),
        sessionKey: SessionKey.optional(),
      }),
    },
    success: [202, 'Queued, and stored.', Queued],
    problems: [409, 429],
    async handle({ params, body, caller }, { agents, audit }) {
      const origin = caller.via === 'cli' ? 'cli' : 'api';
      const session = body.sessionKey ?? null;
      const answer = await agents.control.send(params.name, body.message, session, origin, caller.requestKey);
      if (answer.ok)
        await recordAction(audit, caller, 'agent.message', {
          type: 'run',
          id: answer.runId,
          name: params.name,
        });
      return queued(answer);
    },
  }),
];

const AgentSession = component('AgentSession', {
  key: z.string(),
  agent: z.string(),
  createdAt: Time,
  lastUsedAt: Time,
  messages: Count,
  bytes: Bytes,
});

const AgentSessionDetail = AgentSession.extend({
  /** Oldest first. */
  history: z.array(
    z.object({ role: z.enum(['user', 'assistant']), content: z.string(), at: Time, runId: Guid }),
  ),
}).meta({ id: 'AgentSessionDetail' });

const KeyParams = z.object({ key: SessionKey });

export const conversationRoutes = [
  route('GET /api/v1/agent-sessions', 'listAgentSessions', 'agents:read', {
    summary: 'Conversations, most recently used first.',
    request: { query: conversationCursors.PageQuery.extend(AgentFilter.shape) },
    success: [200, 'A page.', openPageOf(AgentSession, 'AgentSessionPage')],
    async handle({ query: { cursor, limit, ...wanted } }, { agents }) {
      const after = conversationCursors.placeOf(cursor) ?? undefined;
      const filter = { ...wanted, after, limit: limit + 1 };
      const found = await agents.sessions.list(withoutUndefined<SessionFilter>(filter));
      const { items, nextCursor } = conversationCursors.page(found, limit, (last) => last);
      return { body: { items: items.map(presentSession), nextCursor } };
    },
  }),
  route('GET /api/v1/agent-sessions/{key}', 'getAgentSession', 'agents:read', {
    summary: 'One conversation with its history.',
    request: { params: KeyParams },
    success: [200, 'The conversation.', AgentSessionDetail],
    async handle({ params }, { agents: { sessions } }) {
      const session = await sessions.get(params.key);
      if (!session) return notFound('session');
      const history = await sessions.messages(params.key);
      return {
        body: { ...presentSession(session), history: history.map((each) => withTimes(each, 'at')) },
      };
    },
  }),
  route('DELETE /api/v1/agent-sessions/{key}', 'deleteAgentSession', 'agents:write', {
    summary: 'Deletes the history of a conversation; its runs stay.',
    request: { params: KeyParams },
    success: [204, 'Deleted.'],
    async handle({ params, caller }, { agents, audit }) {
      if (!(await agents.sessions.remove(params.key))) return notFound('session');
      const { key } = params;
      await recordAction(audit, caller, 'agent.forget-session', { type: 'agent', id: key, name: key });
      return DONE;
    },
  }),
];

const presentSession = (session: StoredSession) => withTimes(session, 'createdAt', 'lastUsedAt');
