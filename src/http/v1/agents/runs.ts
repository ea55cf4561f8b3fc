// /api/v1/runs: the runs of agents, with message, reply and delivery.
import { z } from 'zod';
import type { RunFilter } from '../../../core/agents/run-store.js';
import type { Delivery, Run as StoredRun } from '../../../core/agents/runs.js';
import { withoutUndefined } from '../../../core/maps.js';
import { withTimes } from '../../../core/time/clock.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { Count, component, Guid, openPageOf, Time } from '../../api/schemas.js';
import type { Services } from '../../services.js';
import { idCursors } from '../cursors.js';
import { AgentFilter, notFound, Queued, queued, recordAction, SessionKey } from './agents.js';

const RunStatus = z
  .enum(['queued', 'running', 'succeeded', 'failed', 'timeout', 'cancelled'])
  .meta({ id: 'RunStatus' });

const Run = component('Run', {
  id: Guid,
  kind: z.enum(['message', 'wake']),
  agent: z.string(),
  /** null for a wake of an agent without a fixed session. */
  session: z.string().nullable(),
  /** In a list only the first 200 characters, as with `reply`; complete in a single run. null for a wake. */
  message: z.string().nullable(),
  origin: z.enum(['webhook', 'api', 'cli']),
  /** The run that this run repeats. */
  rerunOf: Guid.nullable(),
  status: RunStatus,
  /** Number of starts. */
  attempt: Count,
  acceptedAt: Time,
  /** Start of the newest attempt. */
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  reply: z.string().nullable(),
  error: z.string().nullable(),
  /** State of the reply's delivery to the agent's channel. */
  delivery: z.enum(['none', 'pending', 'delivered', 'failed']),
  deliveryTries: Count,
  nextDeliveryAt: Time.nullable(),
});

const RunDetail = Run.extend({
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

const { route } = routesOf('Agents');

export const runRoutes = [
  route('GET /api/v1/runs', 'listRuns', 'agents:read', {
    summary: 'Runs, newest first.',
    request: {
      query: idCursors.PageQuery.extend({
        ...AgentFilter.shape,
        status: RunStatus.optional(),
        session: SessionKey.optional(),
      }),
    },
    success: [200, 'A page.', openPageOf(Run, 'RunPage')],
    async handle({ query: { cursor, limit, ...wanted } }, { agents }) {
      const before = idCursors.placeOf(cursor) ?? undefined;
      const filter = { ...wanted, before, limit: limit + 1 };
      const found = await agents.runs.list(withoutUndefined<RunFilter>(filter));
      return { body: idCursors.page(found.map(presentRun), limit, ({ id }) => id) };
    },
  }),
  route('GET /api/v1/runs/{id}', 'getRun', 'agents:read', {
    summary: 'One run with its complete message and reply, and every delivery attempt.',
    success: [200, 'The run.', RunDetail],
    handle: ({ params }, { agents }) => shownRun(agents, params.id),
  }),
  route('POST /api/v1/runs/{id}/cancel', 'cancelRun', 'agents:write', {
    summary: 'Cancels a queued or running run.',
    success: [200, 'The run as it is now.', RunDetail],
    problems: [409],
    async handle({ params: { id }, caller }, { agents, audit }) {
      switch (await agents.control.cancel(id)) {
        case 'cancelled':
          await recordAction(audit, caller, 'run.cancel', { type: 'run', id, name: null });
          return shownRun(agents, id);
        case 'not-found':
          return notFound('run');
        case 'finished':
          return failure('conflict', 'run-finished');
        case 'elsewhere':
          return failure('conflict', 'run-elsewhere');
      }
    },
  }),
  route('POST /api/v1/runs/{id}/rerun', 'rerunRun', 'agents:write', {
    summary: 'Queues a new run with the same agent, session and message.',
    success: [202, 'Queued, and stored.', Queued],
    problems: [429],
    async handle({ params, caller }, { agents, audit }) {
      const answer = await agents.control.rerun(params.id, caller.requestKey);
      if (answer.ok)
        await recordAction(audit, caller, 'run.again', { type: 'run', id: answer.runId, name: null });
      return queued(answer);
    },
  }),
];

async function shownRun(
  { runs, deliveries }: Services['agents'],
  id: string,
): Promise<Answered | ProblemAnswer> {
  const run = await runs.get(id);
  if (!run) return notFound('run');
  const tries = await deliveries.ofRun(run.id);
  return { body: { ...presentRun(run), deliveries: tries.map(presentDelivery) } };
}

const presentRun = (run: StoredRun) =>
  withTimes(run, 'acceptedAt', 'startedAt', 'finishedAt', 'nextDeliveryAt');

function presentDelivery({ runId: _, ...delivery }: Delivery) {
  return withTimes(delivery, 'startedAt', 'finishedAt');
}
