// Agents, their runs and conversations.
import { z } from 'zod';
import { Count, Guid, IdParams, PageQuery, pageOf, route, Time } from './common.js';

const AgentName = z.string().min(1).max(128);
const SessionKey = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);

export const Agent = z
  .object({
    name: z.string(),
    type: z.enum(['command', 'http', 'openai']),
    state: z.enum(['idle', 'active']),
    /** When it last woke or ran. */
    lastActiveAt: Time.nullable(),
    queued: Count,
    running: Count,
    /** The fixed session key, if it has one. */
    sessionKey: z.string().nullable(),
    /** Whether webhooks may trigger it. */
    webhook: z.boolean(),
    channel: z.enum(['http', 'file', 'log', 'none']),
    timeoutSeconds: z.number(),
  })
  .meta({ id: 'Agent' });

export const RunStatus = z
  .enum(['queued', 'running', 'succeeded', 'failed', 'timeout', 'cancelled'])
  .meta({ id: 'RunStatus' });

export const Run = z
  .object({
    id: Guid,
    agent: z.string(),
    session: z.string(),
    kind: z.enum(['message', 'wake']),
    status: RunStatus,
    /** The first 200 characters in a list, the whole of it in a single run. */
    message: z.string().nullable(),
    reply: z.string().nullable(),
    error: z.string().nullable(),
    /** How often it was started. */
    attempts: Count,
    queuedAt: Time,
    startedAt: Time.nullable(),
    finishedAt: Time.nullable(),
    /** How its reply fared on the agent's channel; null: nothing to deliver (yet). */
    delivery: z.enum(['pending', 'delivered', 'failed']).nullable(),
  })
  .meta({ id: 'Run' });

export const RunDetail = Run.extend({
  deliveries: z.array(
    z.object({
      attempt: z.int().min(1),
      at: Time,
      ok: z.boolean(),
      /** HTTP status of the receiver, for an http channel that answered. */
      status: z.int().nullable(),
      error: z.string().nullable(),
      durationMs: z.number().nullable(),
    }),
  ),
  /** The run this one repeats. */
  rerunOf: Guid.nullable(),
}).meta({ id: 'RunDetail' });

export const AgentSession = z
  .object({ key: z.string(), agent: z.string(), messages: Count, updatedAt: Time })
  .meta({ id: 'AgentSession' });

export const AgentSessionDetail = AgentSession.extend({
  history: z.array(z.object({ role: z.string(), content: z.string(), at: Time.nullable() })),
}).meta({ id: 'AgentSessionDetail' });

const Queued = z.object({ runId: Guid, session: z.string() }).meta({ id: 'QueuedRun' });
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
      query: z.object({
        ...PageQuery.shape,
        agent: AgentName.optional(),
        status: RunStatus.optional(),
        session: SessionKey.optional(),
        /** In message and reply. */
        search: z.string().max(255).optional(),
      }),
    },
    responses: { 200: { description: 'A page.', schema: pageOf(Run).meta({ id: 'RunPage' }) } },
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
    request: {
      query: z.object({
        ...PageQuery.shape,
        agent: AgentName.optional(),
        search: z.string().max(255).optional(),
      }),
    },
    responses: {
      200: { description: 'A page.', schema: pageOf(AgentSession).meta({ id: 'AgentSessionPage' }) },
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
