// Answers to requests to /hooks, and the check of content types for all webhook endpoints.
import type { HookAnswer, HookRequest } from '../core/agents/webhooks.js';

export const JSON_FAULTS = {
  'not-utf8': 'the body is not UTF-8',
  'not-json': 'the body is not JSON',
  'not-an-object': 'the body must be a JSON object',
  'duplicate-key': 'the body has a duplicate field',
  'too-deep': 'the body is nested too deeply',
} as const;

/** Returns why the body is not readable; null for plain JSON in UTF-8. */
export function mediaFault(request: HookRequest): string | null {
  const [type = '', ...more] = request.header('content-type');
  if (
    more.length > 0 ||
    !/^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?[ \t]*$/i.test(type)
  ) {
    return 'Content-Type must be application/json';
  }
  const isPlain = request.header('content-encoding').every((coding) => coding.toLowerCase() === 'identity');
  return isPlain ? null : 'a compressed body is not accepted';
}

export function refuse(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): HookAnswer {
  return { status, headers, body: { status: 'error', error } };
}
