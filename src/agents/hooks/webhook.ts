// The webhook endpoints: checks the request step by step, stores the run, then answers.
import { randomUUID } from 'node:crypto';
import type { RunKind } from '../../core/agents/runs.js';
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
} from '../../core/agents/webhooks.js';
import { createAttemptLimit } from '../../core/auth/attempt-limit.js';
import { STORAGE_PROBLEMS, storageProblemOf } from '../../core/errors.js';
import type { AgentContext } from '../context.js';
import type { Intake, IntakeResult, WantedRun } from '../intake.js';
import { hasQueryToken, JSON_FAULTS, mediaFault, refusal, type TokenCheck } from './checks.js';
import { createSignedWebhook } from './signed-webhook.js';

/** Retry-After while the queue is full, the database cannot be used, or the daemon stops, in seconds. */
const FULL_RETRY_S = 5;
const DATABASE_RETRY_S = 5;
const STOPPING_RETRY_S = 10;
const MAX_SOURCES = 10_000;

/** @param signing the current secrets of senders that sign, by agent */
export function createWebhook(
  context: AgentContext,
  token: TokenCheck,
  signing: ReadonlyMap<string, readonly string[]>,
  intake: Intake,
): HandleHook {
  const { log, webhooks } = context;
  const { agents, maxBodyBytes } = webhooks;
  const attempts = createAttemptLimit({
    maxFailures: webhooks.maxFailuresPerSource,
    windowMs: webhooks.failureWindowMs,
    maxSources: MAX_SOURCES,
    now: context.monotonicNow,
    penalties: context.penalties,
  });
  const readSigned = createSignedWebhook(context, signing, attempts);
  return async (request) => {
    try {
      const early = refusalBeforeBody(request);
      if (early) return early;
      const wanted = await readSigned(request);
      if (wanted === null) return tokenRefusal(request) ?? (await handleWithToken(request));
      return 'status' in wanted ? wanted : answerOf(await intake.accept(wanted));
    } catch (err) {
      const problem = storageProblemOf(err);
      if (problem) {
        log.warn({ err, problem, path: request.path }, 'webhook request refused: database unavailable');
        return refusal(503, STORAGE_PROBLEMS[problem], { 'Retry-After': String(DATABASE_RETRY_S) });
      }
      log.error({ err, path: request.path }, 'webhook request failed');
      return refusal(500, 'internal error; the log of the daemon contains the reason');
    }
  };

  /** Checks only the source and the request line, before anything else of the request is read. */
  function refusalBeforeBody(request: HookRequest): HookAnswer | null {
    if (!webhooks.enabled) return refusal(404, 'webhooks are not enabled');
    const { source } = request;
    if (!context.mayCall(source)) return refusal(403, 'this address may not call webhooks');
    const waitMs = attempts.attempt(source);
    if (waitMs !== null) {
      return refusal(429, 'too many failed attempts', { 'Retry-After': seconds(waitMs) });
    }
    if (hasQueryToken(request.query)) {
      return refusal(400, 'the token belongs in the Authorization header, not in the URL');
    }
    return null;
  }

  function tokenRefusal(request: HookRequest): HookAnswer | null {
    const { source } = request;
    if (!token.verify(request.header('authorization'))) {
      log.warn({ client: source }, 'webhook token refused');
      return refusal(401, 'a valid bearer token is required', {
        'WWW-Authenticate': 'Bearer realm="Pulsegate"',
      });
    }
    attempts.succeeded(source);
    return null;
  }

  async function handleWithToken(request: HookRequest): Promise<HookAnswer> {
    const kind = Object.hasOwn(HOOK_PATHS, request.path) ? HOOK_PATHS[request.path] : undefined;
    if (kind === undefined) return refusal(404, 'no such webhook');
    if (request.method !== 'POST') return refusal(405, 'use POST', { Allow: 'POST' });
    const fault = mediaFault(request);
    if (fault !== null) return refusal(415, fault);

    const bytes = await request.readBody(maxBodyBytes);
    if (bytes === null) return refusal(413, `the body is longer than ${maxBodyBytes} bytes`);
    const read = readJsonObject(bytes);
    if (!read.ok) return refusal(400, JSON_FAULTS[read.reason]);
    const wanted = wantedRun(request, kind, read.object);
    return 'status' in wanted ? wanted : answerOf(await intake.accept(wanted));
  }

  function wantedRun(
    request: HookRequest,
    kind: RunKind,
    object: Readonly<Record<string, unknown>>,
  ): WantedRun | HookAnswer {
    const read = readHookBody(kind, object);
    if (!read.ok) return refusal(400, read.error);
    const { agent, message, sessionKey } = read.body;
    const key = readIdempotencyKey(request.header('idempotency-key'), object);
    if (!key.ok) return refusal(400, key.error);
    const target = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
    if (!target) return refusal(404, 'no such agent');

    const idempotency =
      key.key === null ? null : { key: key.key, digest: requestDigest(request.path, object) };
    const common = { kind, agent, message, origin: 'webhook', rerunOf: null } as const;
    if (kind === 'wake') {
      const answer = () => ({ status: 'ok', agent, state: 'active' });
      return { run: { ...common, session: target.sessionKey }, idempotency, answer };
    }
    const session = chooseSession(target.sessionKey, sessionKey, randomUUID);
    if (session === null)
      return refusal(409, 'the agent has a fixed session key, which differs from this one');
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
      return refusal(422, 'the idempotency key was used with another request');
    case 'full':
      return refusal(429, 'the queue is full', { 'Retry-After': String(FULL_RETRY_S) });
    case 'stopping':
      return refusal(503, 'the daemon is shutting down', { 'Retry-After': String(STOPPING_RETRY_S) });
  }
}

const seconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
