// Who makes a request to the management plane, once that is known.
import { type Actor, DAEMON } from '../core/operator/audit.js';

export interface Caller {
  readonly via: 'console' | 'basic' | 'token';
  /** Admin user name, or the name of the token. */
  readonly name: string;
  /** What a token may do; null: everything. */
  readonly scopes: readonly string[] | null;
  /** Client address, as the whitelist sees it. */
  readonly address: string;
  /** Hash of the console session's cookie, or id of the token: asked again by what outlives one request. */
  readonly key: string | null;
}

/** The caller as the audit log names one; behind the guards there always is one. */
export function actorOf(caller: Caller | undefined): Actor {
  if (!caller) return DAEMON;
  const { via, name, address } = caller;
  return { name, via: via === 'basic' ? 'api' : via, address };
}
