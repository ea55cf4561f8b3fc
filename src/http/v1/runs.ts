// /api/v1: agents, their runs, deliveries and sessions.
import type Router from '@koa/router';
import type { AgentSessionStore, SessionFilter } from '../../core/agents/agent-session-store.js';
import type { DeliveryStore } from '../../core/agents/delivery-store.js';
import type { RunFilter, RunStore } from '../../core/agents/run-store.js';
import type { AgentControl, AgentSession, QueuedAnswer, Run } from '../../core/agents/runs.js';
import type { AuditAction, AuditStore } from '../../core/audit/audit.js';
import type { ReadJsonObject } from '../body.js';
import { actorOf, type Caller } from '../caller.js';
import type { AdminState } from '../state.js';
import { agentRoutes } from './contract/agents.js';
import { type Answered, type Handlers, type ProblemAnswer, serveRoutes } from './serve.js';

export interface RunUses {
  readonly control: AgentControl;
  readonly runs: Pick<RunStore, 'get' | 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'ofRun'>;
  readonly sessions: Pick<AgentSessionStore, 'list' | 'get' | 'messages' | 'remove'>;
}

export function runRoutes(
  router: Router<AdminState>,
  {
    control,
    runs,
    deliveries,
    sessions,
    audit,
    readJsonObject,
  }: RunUses & { readonly audit: Pick<AuditStore, 'add'>; readonly readJsonObject: ReadJsonObject },
): void {
  async function detail(id: string): Promise<Answered | ProblemAnswer> {
    const run = await runs.get(id.toLowerCase());
    if (!run) return notFound('run');
    const tries = await deliveries.ofRun(run.id);
    const shown = tries.map(({ runId: _, ...each }) => ({
      ...each,
      startedAt: iso(each.startedAt),
      finishedAt: iso(each.finishedAt),
    }));
    return ok({ ...presentRun(run), deliveries: shown });
  }

  const note = (
    caller: Caller,
    action: AuditAction,
    type: 'run' | 'agent',
    id: string | null,
    name: string | null,
  ): Promise<void> =>
    audit.add([{ by: actorOf(caller), action, object: { type, id, name }, before: null, after: null }]);

  const handlers: Handlers<(typeof agentRoutes)[number]> = {
    listAgents: async () =>
      ok({
        items: control.agents().map((agent) => ({ ...agent, lastActiveAt: isoOrNull(agent.lastActiveAt) })),
      }),

    async sendMessage({ params, body, caller }) {
      const answer = await control.send(params.name, body.message, body.sessionKey ?? null);
      if (answer.ok) await note(caller, 'agent.message', 'run', answer.runId, params.name);
      return queued(answer);
    },

    async listRuns({ query: { cursor, limit, ...wanted } }) {
      const before = cursor?.toLowerCase();
      if (before !== undefined && !/^[0-9a-f-]{36}$/.test(before)) return badCursor();
      const filter = { ...wanted, before, limit: limit + 1 };
      const found = await runs.list(withoutUndefined<RunFilter>(filter));
      return ok(page(found.map(presentRun), limit, ({ id }) => id));
    },

    getRun: ({ params }) => detail(params.id),

    async cancelRun({ params, caller }) {
      switch (await control.cancel(params.id.toLowerCase())) {
        case 'cancelled':
          await note(caller, 'run.cancel', 'run', params.id.toLowerCase(), null);
          return detail(params.id);
        case 'not-found':
          return notFound('run');
        case 'finished':
          return { problem: 'conflict', detail: 'the run is already finished' };
        case 'elsewhere':
          return { problem: 'conflict', detail: 'another daemon is running it' };
      }
    },

    async rerunRun({ params, caller }) {
      const answer = await control.rerun(params.id.toLowerCase());
      if (answer.ok) await note(caller, 'run.again', 'run', answer.runId, null);
      return queued(answer);
    },

    async listAgentSessions({ query: { cursor, limit, ...wanted } }) {
      const after = cursor === undefined ? undefined : placeOf(cursor);
      if (after === null) return badCursor();
      const filter = { ...wanted, after, limit: limit + 1 };
      const found = await sessions.list(withoutUndefined<SessionFilter>(filter));
      const { items, nextCursor } = page(found, limit, ({ lastUsedAt, key }) => `${lastUsedAt}~${key}`);
      return ok({ items: items.map(presentSession), nextCursor });
    },

    async getAgentSession({ params }) {
      const session = await sessions.get(params.key);
      if (!session) return notFound('session');
      const history = await sessions.messages(params.key);
      return ok({
        ...presentSession(session),
        history: history.map((each) => ({ ...each, at: iso(each.at) })),
      });
    },

    async deleteAgentSession({ params, caller }) {
      if (!(await sessions.remove(params.key))) return notFound('session');
      await note(caller, 'agent.forget-session', 'agent', params.key, params.key);
      return { status: 204 };
    },
  };
  serveRoutes(router, agentRoutes, handlers, readJsonObject);
}

function queued(answer: QueuedAnswer): Answered | ProblemAnswer {
  if (answer.ok) return { status: 202, body: { runId: answer.runId, session: answer.session } };
  switch (answer.reason) {
    case 'no-agent':
      return notFound('agent');
    case 'no-run':
      return notFound('run');
    case 'bad-message':
      return {
        problem: 'validation',
        errors: [{ path: 'body.message', message: 'blank, or not storable text' }],
      };
    case 'key-conflict':
      return { problem: 'conflict', detail: 'the agent has a fixed session key, and it is another one' };
    case 'full':
      return { problem: 'queue-full' };
    case 'stopping':
      return { problem: 'unavailable', detail: 'the daemon is shutting down' };
  }
}

function presentRun(run: Run): Record<string, unknown> & { readonly id: string } {
  return {
    ...run,
    acceptedAt: iso(run.acceptedAt),
    startedAt: isoOrNull(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    nextDeliveryAt: isoOrNull(run.nextDeliveryAt),
  };
}

function presentSession(session: AgentSession): Record<string, unknown> {
  return { ...session, createdAt: iso(session.createdAt), lastUsedAt: iso(session.lastUsedAt) };
}

/** One more than `limit` was asked for: whether it came tells if there is a next page. */
function page<T>(found: readonly T[], limit: number, cursorOf: (last: T) => string) {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: found.length > limit && last !== undefined ? cursorOf(last) : null };
}

function placeOf(cursor: string): { lastUsedAt: number; key: string } | null {
  const [, at, key] = /^(\d{1,15})~(.+)$/.exec(cursor) ?? [];
  return at === undefined || key === undefined ? null : { lastUsedAt: Number(at), key };
}

/** A key that is undefined is as good as absent; the ports' types insist on absent. */
function withoutUndefined<T extends object>(filter: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as T;
}

const ok = (body: unknown): Answered => ({ status: 200, body });
const notFound = (what: string): ProblemAnswer => ({
  problem: 'not-found',
  detail: `there is no such ${what}`,
});
const badCursor = (): ProblemAnswer => ({
  problem: 'validation',
  errors: [{ path: 'query.cursor', message: 'not a cursor of this list' }],
});
const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
