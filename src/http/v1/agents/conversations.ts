// /api/v1/agent-sessions: conversations with agents, and their history.
import { z } from 'zod';
import type { SessionFilter } from '../../../core/agents/run-store.js';
import type { AgentSession as StoredSession } from '../../../core/agents/runs.js';
import { iso } from '../../../core/clock.js';
import { DONE, routesOf } from '../../api/route.js';
import { Bytes, Count, Guid, openPageOf, Time } from '../../api/schemas.js';
import { withoutUndefined } from '../../fields.js';
import { conversationCursors } from '../cursors.js';
import { AgentFilter, notFound, recordAction, SessionKey } from './shared.js';

const AgentSession = z
  .object({
    key: z.string(),
    agent: z.string(),
    createdAt: Time,
    lastUsedAt: Time,
    messages: Count,
    bytes: Bytes,
  })
  .meta({ id: 'AgentSession' });

const AgentSessionDetail = AgentSession.extend({
  /** Oldest first. */
  history: z.array(
    z.object({ role: z.enum(['user', 'assistant']), content: z.string(), at: Time, runId: Guid }),
  ),
}).meta({ id: 'AgentSessionDetail' });

const KeyParams = z.object({ key: SessionKey });

const { route } = routesOf('Agents');

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
        body: { ...presentSession(session), history: history.map((each) => ({ ...each, at: iso(each.at) })) },
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

function presentSession(session: StoredSession): Record<string, unknown> {
  return { ...session, createdAt: iso(session.createdAt), lastUsedAt: iso(session.lastUsedAt) };
}
