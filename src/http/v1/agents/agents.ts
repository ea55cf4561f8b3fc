// /api/v1/agents: the agents of the configuration, and messages to them.
import { z } from 'zod';
import { isoOrNull } from '../../../core/clock.js';
import { routesOf } from '../../api/route.js';
import { Count, listOf, Time } from '../../api/schemas.js';
import { AgentName, Queued, queued, recordAction, SessionKey } from './shared.js';

const Agent = z
  .object({
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
  })
  .meta({ id: 'Agent' });

const NameParams = z.object({ name: AgentName });

const { route } = routesOf('Agents');

export const agentRoutes = [
  route('GET /api/v1/agents', 'listAgents', 'agents:read', {
    summary: 'Agents of the configuration and their states.',
    success: [200, 'All of them.', listOf(Agent, 'Agents')],
    async handle(_input, { agents }) {
      const items = agents.control
        .agents()
        .map((agent) => ({ ...agent, lastActiveAt: isoOrNull(agent.lastActiveAt) }));
      return { body: { items } };
    },
  }),
  route('POST /api/v1/agents/{name}/messages', 'sendMessage', 'agents:write', {
    summary: 'Queues a run with a message, as the webhook would.',
    bulkBody: true,
    request: {
      params: NameParams,
      body: z
        .object({ message: z.string().min(1).max(200_000), sessionKey: SessionKey.optional() })
        .meta({ id: 'AgentMessage' }),
    },
    success: [202, 'Queued, and stored.', Queued],
    problems: [409, 429],
    async handle({ params, body, caller }, { agents, audit }) {
      const origin = caller.via === 'cli' ? 'cli' : 'api';
      const answer = await agents.control.send(params.name, body.message, body.sessionKey ?? null, origin);
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
