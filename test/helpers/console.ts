// Signs in to a test daemon like the console, and calls /api/v1 with the session cookie.
import { ADMIN, type ApiAnswer, type TestDaemon } from './daemon.js';
import { ask } from './http.js';

export interface Console {
  /** `pulsegate_session=…`, as a browser sends the cookie. */
  readonly cookie: string;
  readonly setCookie: string;
  /** Sends a request as the console's own page does. */
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
}

/** Sends a request with exactly these headers, and with a JSON body if there is one. */
export async function fetchFrom(
  daemon: Pick<TestDaemon, 'adminUrl'>,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<ApiAnswer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return ask(daemon.adminUrl + path, method, { ...type, ...headers }, text);
}

export async function signIn(
  daemon: Pick<TestDaemon, 'adminUrl'>,
  credentials: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Console> {
  const answer = await fetchFrom(daemon, 'POST', '/api/v1/session', headers, { ...ADMIN, ...credentials });
  if (answer.status !== 200) throw new Error(`signing in: ${answer.status} ${answer.text}`);
  const setCookie = answer.headers.get('set-cookie') ?? '';
  const [cookie = ''] = setCookie.split(';');
  return {
    cookie,
    setCookie,
    api: (method, path, body, more = {}) =>
      fetchFrom(daemon, method, path, { cookie, origin: daemon.adminUrl, ...more }, body),
  };
}

/** Returns the code of a problem. */
export function codeOf(answer: ApiAnswer): unknown {
  return (answer.json as { code?: unknown } | undefined)?.code;
}
