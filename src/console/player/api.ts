// Requests of the player page. All paths are below the page's own address, which is the credential.

export type { Device, Status } from './api-types.js';

export class PlayerError extends Error {
  /** @param status HTTP status of the answer; 0: no answer */
  constructor(
    readonly status: number,
    readonly code: string | null = null,
  ) {
    super(`status ${status}`);
  }
}

/**
 * @param path below the page's own address
 * @throws PlayerError
 */
export async function ask<Answer>(path: string, body?: unknown): Promise<Answer> {
  const init: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const own = location.pathname.replace(/\/$/, '');
  const response = await fetch(`${own}/${path}`, { ...init, cache: 'no-store' }).catch(() => {
    throw new PlayerError(0);
  });
  if (!response.ok) throw new PlayerError(response.status, await codeOf(response));
  return (await response.json()) as Answer;
}

/** Returns the code of a problem. The guards that run before the routes answer with plain text instead. */
async function codeOf(response: Response): Promise<string | null> {
  const answer: unknown = await response.json().catch(() => null);
  const code = (answer as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
