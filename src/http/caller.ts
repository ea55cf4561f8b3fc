// The caller of a request to the admin API, once authenticated.
import { type Actor, DAEMON } from '../core/audit/audit.js';

/** On the control socket: names the system user who asks, percent-encoded, for the audit log. */
export const USER_HEADER = 'pulsegate-user';

export interface Caller {
  readonly via: 'console' | 'basic' | 'token' | 'cli';
  /** Admin user name, the name of the token, or the system user of the command line. */
  readonly name: string;
  /** The scopes of a token; null: everything is allowed. */
  readonly scopes: readonly string[] | null;
  /** Client address, as the whitelist sees it; of the command line none. */
  readonly address: string;
  /**
   * Hash of the console session's cookie, id of the token, or fingerprint of the credentials: checked again by
   * streams, which outlive one request.
   */
  readonly key: string | null;
}

/** The console session that the caller uses; null: none. */
export function sessionOf({ via, key }: Caller): string | null {
  return via === 'console' ? key : null;
}

/** The caller as the audit log names one; behind the guards there always is one. */
export function actorOf(caller: Caller | undefined): Actor {
  if (!caller) return DAEMON;
  const { via, name, address } = caller;
  return { name, via: via === 'basic' ? 'api' : via, address: via === 'cli' ? null : address };
}
