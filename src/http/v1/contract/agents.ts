// Agents, their runs and conversations.
import { z } from 'zod';
import { Bytes, Count, Guid, IdParams, openPageOf, PageQuery, route, Time } from './common.js';

const AgentName = z.string().min(1).max(128);
const SessionKey = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);

export const Agent = z
  .object({
    name: z.string(),
    /** `command`, `http`, `openai`. */
    type: z.string(),
    /** `active` from a wake or a run until `idleAfter` later. */
    state: z.enum(['idle', 'active']),
    lastActiveAt: Time.nullable(),
    queued: Count,
    running: Count,
    /** The fixed session key, if it has one. */
    sessionKey: z.string().nullable(),
    /** Whether webhooks may trigger it. */
    webhook: z.boolean(),
    /** `http`, `file`, `log`, `none`. */
    channel: z.string(),
  })
  .meta({ id: 'Agent' });

export const RunStatus = z
  .enum(['queued', 'running', 'succeeded', 'failed', 'timeout', 'cancelled'])
  .meta({ id: 'RunStatus' });

export const Run = z
  .object({
    id: Guid,
    kind: z.enum(['message', 'wake']),
    agent: z.string(),
    /** null for a wake of an agent without a fixed session. */
    session: z.string().nullable(),
    /** In a list at most the first 200 characters, as with `reply`; the whole of it in a single run. null for a wake. */
    message: z.string().nullable(),
    origin: z.enum(['webhook', 'api', 'cli']),
    /** The run this one repeats. */
    rerunOf: Guid.nullable(),
    status: RunStatus,
    /** How often it was started. */
    attempt: Count,
    acceptedAt: Time,
    /** Start of the newest attempt. */
    startedAt: Time.nullable(),
    finishedAt: Time.nullable(),
    reply: z.string().nullable(),
    error: z.string().nullable(),
    /** Where the reply stands on its way to the agent's channel. */
    delivery: z.enum(['none', 'pending', 'delivered', 'failed']),
    deliveryTries: Count,
    nextDeliveryAt: Time.nullable(),
  })
  .meta({ id: 'Run' });

export const RunDetail = Run.extend({
  /** Oldest first. */
  deliveries: z.array(
    z.object({
      id: Guid,
      attempt: z.int().min(1),
      channel: z.string(),
      startedAt: Time,
      finishedAt: Time,
      delivered: z.boolean(),
      detail: z.string(),
    }),
  ),
}).meta({ id: 'RunDetail' });

export const AgentSession = z
  .object({
    key: z.string(),
    agent: z.string(),
    createdAt: Time,
    lastUsedAt: Time,
    messages: Count,
    bytes: Bytes,
  })
  .meta({ id: 'AgentSession' });

export const AgentSessionDetail = AgentSession.extend({
  /** Oldest first. */
  history: z.array(
    z.object({ role: z.enum(['user', 'assistant']), content: z.string(), at: Time, runId: Guid }),
  ),
}).meta({ id: 'AgentSessionDetail' });

/** What runs and conversations are both found by. */
const AgentQuery = PageQuery.extend({
  agent: AgentName.optional(),
  /** Of runs in message and reply, of conversations in the key. */
  search: z.string().max(255).optional(),
});
const Queued = z.object({ runId: Guid, session: z.string().nullable() }).meta({ id: 'QueuedRun' });
const KeyParams = z.object({ key: SessionKey });
const NameParams = z.object({ name: AgentName });

const tag = 'Agents';
export const agentRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/agents',
    operationId: 'listAgents',
    summary: 'Agents of the configuration and their states.',
    tag,
    access: 'agents:read',
    request: {},
    responses: {
      200: {
        description: 'All of them.',
        schema: z.object({ items: z.array(Agent) }).meta({ id: 'Agents' }),
      },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/agents/{name}/messages',
    operationId: 'sendMessage',
    summary: 'Queues a run with a message, as the webhook would.',
    tag,
    access: 'agents:write',
    request: {
      params: NameParams,
      body: z
        .object({ message: z.string().min(1).max(200_000), sessionKey: SessionKey.optional() })
        .meta({ id: 'AgentMessage' }),
    },
    responses: { 202: { description: 'Queued, and stored.', schema: Queued } },
    problems: [404, 409, 429],
  }),
  route({
    method: 'GET',
    path: '/api/v1/runs',
    operationId: 'listRuns',
    summary: 'Runs, newest first.',
    tag,
    access: 'agents:read',
    request: {
      query: AgentQuery.extend({ status: RunStatus.optional(), session: SessionKey.optional() }),
    },
    responses: { 200: { description: 'A page.', schema: openPageOf(Run).meta({ id: 'RunPage' }) } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/runs/{id}',
    operationId: 'getRun',
    summary: 'One run with its whole message, its reply, and every delivery attempt.',
    tag,
    access: 'agents:read',
    request: { params: IdParams },
    responses: { 200: { description: 'The run.', schema: RunDetail } },
    problems: [404],
  }),
  route({
    method: 'POST',
    path: '/api/v1/runs/{id}/cancel',
    operationId: 'cancelRun',
    summary: 'Cancels a queued or running run.',
    tag,
    access: 'agents:write',
    request: { params: IdParams },
    responses: { 200: { description: 'The run as it is now.', schema: RunDetail } },
    problems: [404, 409],
  }),
  route({
    method: 'POST',
    path: '/api/v1/runs/{id}/rerun',
    operationId: 'rerunRun',
    summary: 'Queues a new run with the same agent, session and message.',
    tag,
    access: 'agents:write',
    request: { params: IdParams },
    responses: { 202: { description: 'Queued, and stored.', schema: Queued } },
    problems: [404, 429],
  }),
  route({
    method: 'GET',
    path: '/api/v1/agent-sessions',
    operationId: 'listAgentSessions',
    summary: 'Conversations, the one used last first.',
    tag,
    access: 'agents:read',
    request: { query: AgentQuery },
    responses: {
      200: { description: 'A page.', schema: openPageOf(AgentSession).meta({ id: 'AgentSessionPage' }) },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/agent-sessions/{key}',
    operationId: 'getAgentSession',
    summary: 'One conversation with its history.',
    tag,
    access: 'agents:read',
    request: { params: KeyParams },
    responses: { 200: { description: 'The conversation.', schema: AgentSessionDetail } },
    problems: [404],
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/agent-sessions/{key}',
    operationId: 'deleteAgentSession',
    summary: 'Forgets the history of a conversation; its runs stay.',
    tag,
    access: 'agents:write',
    request: { params: KeyParams },
    responses: { 204: { description: 'Forgotten.' } },
    problems: [404],
  }),
];
