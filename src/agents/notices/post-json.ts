// Posts JSON to the API of a messenger and reads its JSON answer.
import { callHttp, excerpt, retryAfterMs } from '../http-call.js';
import type { SenderDeps } from './send-notice.js';

export type JsonAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly json: Readonly<Record<string, unknown>>;
      /** The beginning of the answer, on one line. */
      readonly text: string;
      readonly afterMs: number | null;
    }
  | { readonly ok: false; readonly detail: string };

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends the request and reads the answer. The result never contains the URL, which may contain a secret. An answer that is no JSON
 * object counts as an empty object.
 */
export async function postJson(
  url: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  { timeoutMs, now }: SenderDeps,
): Promise<JsonAnswer> {
  const result = await callHttp({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    maxBytes: MAX_ANSWER_BYTES,
    signal,
    timeoutMs,
  });
  if (!result.ok) return { ok: false, detail: result.detail };
  const { status, headers } = result;
  return {
    ok: true,
    status,
    json: readObject(result.body),
    text: excerpt(result.body),
    afterMs: retryAfterMs(headers, now()),
  };
}

function readObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
