// The webhook endpoints: checks the request step by step, stores the run, then answers.

import type { RunKind } from '../core/agents/runs.js';
import {
  chooseSession,
  type HandleHook,
  HOOK_PATHS,
  type HookAnswer,
  type HookRequest,
  readHookBody,
  readIdempotencyKey,
  readJsonObject,
  requestDigest,
} from '../core/agents/webhooks.js';
import type { AttemptLimit } from '../core/auth/attempt-limit.js';
import type { Log } from '../core/log.js';
import { STORAGE_PROBLEMS, storageProblemOf } from '../core/storage.js';
import type { WebhookAgentSettings } from './agent-settings.js';
import { hasQueryToken, JSON_FAULTS, mediaFault, refuse, type TokenCheck } from './hook-checks.js';
import type { Intake, IntakeResult, WantedRun } from './intake.js';
import { createSignedWebhook } from './signed-webhook.js';

/** Retry-After while the queue is full, the database cannot be used, or the daemon stops, in seconds. */
const FULL_RETRY_S = 5;
const DATABASE_RETRY_S = 5;
const STOPPING_RETRY_S = 10;

export function createWebhook(deps: {
  readonly isEnabled: boolean;
  /** Whether webhooks.allowFrom permits a source address. */
  readonly mayCall: (source: string) => boolean;
  readonly attempts: AttemptLimit;
  readonly token: TokenCheck;
  readonly maxBodyBytes: number;
  /** The agents that webhooks may trigger, with their fixed session keys. */
  readonly agents: Readonly<Record<string, WebhookAgentSettings>>;
  /** Returns the current secrets of the agent's sender. */
  readonly signingSecrets: (agent: string) => readonly string[];
  /** Time for which runs are kept, in ms. */
  readonly retentionMs: () => number;
  readonly now: () => number;
  readonly intake: Intake;
  readonly newId: () => string;
  readonly log: Pick<Log, 'warn' | 'error'>;
}): HandleHook {
  const readSigned = createSignedWebhook(deps);
  return async (request) => {
    try {
      const refusal = refusalBeforeBody(request);
      if (refusal) return refusal;
      const wanted = await readSigned(request);
      if (wanted === null) return tokenRefusal(request) ?? (await handleWithToken(request));
      return 'status' in wanted ? wanted : answerOf(await deps.intake.accept(wanted));
    } catch (err) {
      const problem = storageProblemOf(err);
      if (problem) {
        deps.log.warn({ err, problem, path: request.path }, 'webhook request refused: database unavailable');
        return refuse(503, STORAGE_PROBLEMS[problem], { 'Retry-After': String(DATABASE_RETRY_S) });
      }
      deps.log.error({ err, path: request.path }, 'webhook request failed');
      return refuse(500, 'internal error; the log of the daemon contains the reason');
    }
  };

  /** Checks only the source and the request line, before anything else of the request is read. */
  function refusalBeforeBody(request: HookRequest): HookAnswer | null {
    if (!deps.isEnabled) return refuse(404, 'webhooks are not enabled');
    const { source } = request;
    if (!deps.mayCall(source)) return refuse(403, 'this address may not call webhooks');
    const waitMs = deps.attempts.attempt(source);
    if (waitMs !== null) {
      return refuse(429, 'too many failed attempts', { 'Retry-After': seconds(waitMs) });
    }
    if (hasQueryToken(request.query)) {
      return refuse(400, 'the token belongs in the Authorization header, not in the URL');
    }
    return null;
  }

  function tokenRefusal(request: HookRequest): HookAnswer | null {
    const { source } = request;
    if (!deps.token.verify(request.header('authorization'))) {
      deps.log.warn({ client: source }, 'webhook token refused');
      return refuse(401, 'a valid bearer token is required', {
        'WWW-Authenticate': 'Bearer realm="Pulsegate"',
      });
    }
    deps.attempts.succeeded(source);
    return null;
  }

  async function handleWithToken(request: HookRequest): Promise<HookAnswer> {
    const kind = Object.hasOwn(HOOK_PATHS, request.path) ? HOOK_PATHS[request.path] : undefined;
    if (kind === undefined) return refuse(404, 'no such webhook');
    if (request.method !== 'POST') return refuse(405, 'use POST', { Allow: 'POST' });
    const fault = mediaFault(request);
    if (fault !== null) return refuse(415, fault);

    const bytes = await request.readBody(deps.maxBodyBytes);
    if (bytes === null) return refuse(413, `the body is longer than ${deps.maxBodyBytes} bytes`);
    const read = readJsonObject(bytes);
    if (!read.ok) return refuse(400, JSON_FAULTS[read.reason]);
    const wanted = wantedRun(request, kind, read.object);
    return 'status' in wanted ? wanted : answerOf(await deps.intake.accept(wanted));
  }

  function wantedRun(
    request: HookRequest,
    kind: RunKind,
    object: Readonly<Record<string, unknown>>,
  ): WantedRun | HookAnswer {
    const read = readHookBody(kind, object);
    if (!read.ok) return refuse(400, read.error);
    const { agent, message, sessionKey } = read.body;
    const key = readIdempotencyKey(request.header('idempotency-key'), object);
    if (!key.ok) return refuse(400, key.error);
    const target = Object.hasOwn(deps.agents, agent) ? deps.agents[agent] : undefined;
    if (!target) return refuse(404, 'no such agent');

    const idempotency =
      key.key === null ? null : { key: key.key, digest: requestDigest(request.path, object) };
    const common = { kind, agent, message, origin: 'webhook', rerunOf: null } as const;
    if (kind === 'wake') {
      const answer = () => ({ status: 'ok', agent, state: 'active' });
      return { run: { ...common, session: target.sessionKey }, idempotency, answer };
    }
    const session = chooseSession(target.sessionKey, sessionKey, deps.newId);
    if (session === null)
      return refuse(409, 'the agent has a fixed session key, which differs from this one');
    const answer = (runId: string) => ({ status: 'ok', session, queued: true, runId });
    return { run: { ...common, session }, idempotency, answer };
  }
}

function answerOf(result: IntakeResult): HookAnswer {
  switch (result.outcome) {
    case 'stored':
      return { status: 200, headers: {}, body: result.answer };
    case 'replayed':
      return { status: 200, headers: { 'Idempotency-Replayed': 'true' }, body: result.answer };
    case 'key-reused':
      return refuse(422, 'the idempotency key was used with another request');
    case 'full':
      return refuse(429, 'the queue is full', { 'Retry-After': String(FULL_RETRY_S) });
    case 'stopping':
      return refuse(503, 'the daemon is shutting down', { 'Retry-After': String(STOPPING_RETRY_S) });
  }
}

function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}
