// Shared code of the agent routes.
import { z } from 'zod';
import type { QueuedAnswer } from '../../../core/agents/runs.js';
import { SESSION_KEY } from '../../../core/agents/webhooks.js';
import type { AuditAction } from '../../../core/audit/audit.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import type { Answered } from '../../api/route.js';
import { Guid } from '../../api/schemas.js';
import { actorOf, type Caller } from '../../caller.js';
import type { Services } from '../../services.js';

export const AgentName = z.string().min(1).max(128);
export const SessionKey = z.string().regex(SESSION_KEY);

/** The filters of both runs and conversations. */
export const AgentFilter = z.object({
  agent: AgentName.optional(),
  /** Runs: in message and reply. Conversations: in the key. */
  search: z.string().max(255).optional(),
});
export const Queued = z.object({ runId: Guid, session: z.string().nullable() }).meta({ id: 'QueuedRun' });

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
  return audit.add([{ by: actorOf(caller), action, object, before: null, after: null }]);
}

/** Returns the answer for a run that was queued or refused. */
export function queued(answer: QueuedAnswer): Answered | ProblemAnswer {
  if (answer.ok) return { body: { runId: answer.runId, session: answer.session } };
  switch (answer.reason) {
    case 'no-agent':
      return notFound('agent');
    case 'no-run':
      return notFound('run');
    case 'bad-message':
      return invalid('body.message', 'blank');
    case 'key-conflict':
      return failure('conflict', 'fixed-session-key');
    case 'full':
      return { problem: 'queue-full' };
    case 'stopping':
      return failure('unavailable', 'stopping');
  }
}
