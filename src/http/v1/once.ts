// `Idempotency-Key`: a repeated request answers what the first did, and changes nothing. The key is stored in the transaction of the
// change, and the answer after it. What is kept of a request is encrypted with a key that only the request itself makes.
import { hash, hkdfSync, randomUUID } from 'node:crypto';
import type { Account } from '../../core/accounts/account.js';
import { canonicalJson, readIdempotencyKey } from '../../core/agents/webhooks.js';
import { openSecret, SEAL_KEY_BYTES, sealSecret } from '../../core/auth/sealed.js';
import { type Clock, DAY_MS } from '../../core/time/clock.js';
import { failure, type ProblemAnswer } from '../api/problem.js';
import type { Answered, HandlerInput, Route, RouteRequest } from '../api/route.js';
import { keptIn, takesKey } from '../api/route.js';
import { headerValues } from '../request.js';
import type { Services } from '../services.js';
import { NO_ACCOUNT } from './accounts/shared.js';

type Input = HandlerInput<RouteRequest>;

/** Returns the function that lets the handler of a route change something only once for a key. */
export function carriedOutOnce({ store, maxKeys, maxAnswerBytes }: Services['requestKeys'], now: Clock) {
  /** Answers as another request with the key did; null: there is none. */
  async function repeated(route: Route, input: Input, deps: Services, { id, key, digest, open }: Identity) {
    const held = await store.findAnswer(key, digest, now());
    if (held?.outcome === 'key-reused') return failure('key-reused', 'key-reused');
    const [of, objectId = '', sealed = ''] = held?.outcome === 'replayed' ? held.answer.split(' ') : [id];
    if (of === id) return null;
    const { secrets, answer } = open(sealed);
    if (answer) return replayed(answer);
    if (route.bulkBody || route.request.raw || route.access !== 'accounts:write')
      return failure('conflict', 'key-pending');
    // Another node may have changed it a moment ago.
    await deps.accounts.refresh([objectId]);
    const account = deps.accounts.get(objectId)?.account;
    if (!account) return NO_ACCOUNT;
    return replayed(await route.handle({ ...input, kept: keptIn(secrets) }, alreadyChanged(deps, account)));
  }

  /** Handles the first request with a key. */
  async function first({ handle }: Route, input: Input, deps: Services, identity: Identity) {
    const { id, key, digest, seal } = identity;
    const secrets: Record<string, string> = {};
    const kept = keptIn(secrets);
    let of = '';
    const keep = (answer: Answered | null): string => `${id} ${of} ${seal({ secrets, answer })}`;
    const pending = (objectId: string | null, body?: object): string => {
      of = objectId ?? '';
      const text = keep(body ? { body } : (kept.answer?.() ?? null));
      return text.length <= maxAnswerBytes ? text : keep(null);
    };
    const requestKey = { id, key, digest, expiresAt: now() + DAY_MS, pending };
    const result = await handle({ ...input, caller: { ...input.caller, requestKey }, kept }, deps);
    if ('problem' in result) return result;
    const text = keep(result);
    if (text.length <= maxAnswerBytes) await store.storeAnswer(requestKey, text);
    return result;
  }

  async function handle(route: Route, input: Input, deps: Services, idempotencyKey: string) {
    const identity = identityOf(route.method, input, idempotencyKey);
    const again = () => repeated(route, input, deps, identity);
    const known = await again();
    if (known) return known;
    const isFull = (await store.countKeys(identity.callersKeys)) >= maxKeys;
    if (isFull) return failure('too-many-requests', 'too-many-keys');
    try {
      const result = await first(route, input, deps, identity);
      // What refuses this request may be the change of another one with the key.
      return 'problem' in result ? ((await again()) ?? result) : result;
    } catch (error) {
      const other = await again().catch(() => null);
      if (other === null) throw error;
      return other;
    }
  }

  return (route: Route): Route => ({
    ...route,
    async handle(input, deps) {
      const sent = takesKey(route) ? headerValues(input.ctx.req, 'idempotency-key') : [];
      const read = readIdempotencyKey(sent, {});
      if (!read.ok) return { problem: 'bad-request', detail: read.error };
      const { key } = read;
      if (key === null) return route.handle(input, deps);
      if (!route.request.raw) return handle(route, input, deps, key);
      const once: Input['once'] = (content, change) =>
        handle({ ...route, handle: ({ caller }) => change(caller) }, { ...input, body: content }, deps, key);
      return route.handle({ ...input, once }, deps);
    },
  });
}

function replayed(result: Answered | ProblemAnswer): Answered | ProblemAnswer {
  if ('problem' in result) return result;
  return { ...result, headers: { ...result.headers, 'Idempotency-Replayed': 'true' } };
}

/** Services whose changes of the account are already made. */
function alreadyChanged(services: Services, account: Account): Services {
  const done = async () => ({ ok: true, account }) as const;
  const accounts = { ...services.accounts, add: done, patch: done, resetUsage: async () => [account] };
  return { ...services, accounts };
}

type Identity = ReturnType<typeof identityOf>;

/** The names of a request in the table, and the cipher of what is kept of it. Neither reveals the idempotency key. */
function identityOf(method: string, { caller, ctx, query, body }: Input, idempotencyKey: string) {
  const callerId = caller.via === 'token' ? caller.key : (caller.operator?.id ?? 'administrator');
  const callersKeys = `request ${callerId} `;
  const key = callersKeys + hash('sha256', `${callersKeys}${idempotencyKey}`, 'hex');
  const content = canonicalJson([callersKeys, idempotencyKey, method, ctx.path, query, body]);
  const derived = Buffer.from(hkdfSync('sha256', content, '', 'pulsegate request', 2 * SEAL_KEY_BYTES));
  const secret = derived.subarray(0, SEAL_KEY_BYTES);
  return {
    id: randomUUID(),
    callersKeys,
    key,
    digest: derived.subarray(SEAL_KEY_BYTES).toString('hex'),
    seal: (kept: object): string => sealSecret(secret, key, Buffer.from(JSON.stringify(kept))),
    /** `answer` null: it is not stored, and is made again with the secrets. */
    open: (sealed: string): { secrets: Record<string, string>; answer: Answered | null } =>
      JSON.parse(String(openSecret(secret, key, sealed))),
  };
}
