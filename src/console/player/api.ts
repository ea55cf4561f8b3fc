// Requests of the player page. All paths are below the page's own address, which is the credential.

export interface Device {
  readonly address: string;
  readonly isThis: boolean;
  readonly games: readonly string[];
  readonly since: string;
  readonly sessions: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

export interface Status {
  readonly username: string;
  readonly isEnabled: boolean;
  readonly isExpired: boolean;
  readonly expiresAt: string | null;
  readonly daysFromFirstLogin: number | null;
  readonly plan: string | null;
  readonly limits: {
    readonly maxSessions: number | null;
    readonly maxClientAddresses: number | null;
    readonly bytesPerSecondUp: number | null;
    readonly bytesPerSecondDown: number | null;
    readonly quotaBytes: number | null;
    readonly quotaPeriod: 'day' | 'week' | 'month' | 'never';
  };
  readonly usage: {
    readonly sessions: number;
    readonly clientAddresses: number;
    readonly periodBytes: number;
    readonly periodEndsAt: string | null;
  };
  readonly devices: readonly Device[];
  readonly link: string;
  readonly host: string;
  readonly port: number;
  readonly mayChange: readonly ('password' | 'authorizedAddresses')[];
  readonly authorizedAddresses: readonly string[];
  readonly maxAuthorizedAddresses: number;
  readonly ownAddress: string | null;
  readonly pac: string | null;
  readonly mayMakePac: boolean;
  readonly now: string;
}

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
