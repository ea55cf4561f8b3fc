// The authenticated caller of a request to the admin API, and what else its middleware shares.
import type { Accounts } from '../core/accounts/accounts.js';
import { accountsOfSeller } from '../core/accounts/owned-accounts.js';
import { type Actor, DAEMON, type RequestKey } from '../core/audit/audit.js';
import type { ApiTokens } from '../core/auth/api-tokens.js';
import type { ConsoleSessions, SessionCredentials } from '../core/auth/console-sessions.js';
import { type Operator, ROLE_SCOPES } from '../core/auth/operator.js';
import type { Principal, Principals } from '../core/auth/principals.js';
import type { Whitelist } from '../core/auth/whitelist.js';
import { failure, type ProblemAnswer } from './api/problem.js';

/** On the control socket: names the calling system user, percent-encoded, for the audit log. */
export const USER_HEADER = 'pulsegate-user';
/** On the control socket: the token of a file in the data folder, which agents' programs cannot read. */
export const CONTROL_TOKEN_HEADER = 'pulsegate-control-token';
/** On the control socket: answers the version and the database of the daemon. */
export const IDENTITY_PATH = '/identity';
/** The media type of files that the command line sends. Their format is in the query. */
export const FILE_TYPE = 'text/plain';
/** On the control socket: POST restarts the daemon in place, GET answers the state of the restart. */
export const RESTART_PATH = '/restart';

export interface Caller {
  readonly via: 'console' | 'basic' | 'token' | 'cli';
  /** User name, the name of the token, or the system user of the command line. */
  readonly name: string;
  /** The operator who calls, or who made the token; null: the administrator. */
  readonly operator: Pick<Operator, 'id' | 'name' | 'role'> | null;
  /** The scopes of the token and of the operator's role; null: all scopes. */
  readonly scopes: readonly string[] | null;
  /** Client address, as the whitelist sees it; empty for the command line. */
  readonly address: string;
  /**
   * Hash of the console session's cookie, id of the token, or fingerprint of the credentials. Streams outlive one request and check
   * it again.
   */
  readonly key: string | null;
  /** Of a request with `Idempotency-Key`, while its handler runs. */
  readonly requestKey?: RequestKey;
}

/** Returns the caller of a command, with all rights. @param name of the system user */
export const commandCaller = (name: string): Caller => ({
  via: 'cli',
  name,
  operator: null,
  scopes: null,
  address: '',
  key: null,
});

/** Makes a caller with the rights of its operator. A token has no more rights than its maker. @param tokenScopes null: no token */
export function callerOf(
  operator: Operator | null,
  tokenScopes: readonly string[] | null,
  caller: Pick<Caller, 'via' | 'name' | 'address' | 'key'>,
): Caller {
  const ofRole: readonly string[] | null = operator && ROLE_SCOPES[operator.role];
  const scopes =
    tokenScopes && ofRole ? tokenScopes.filter((one) => ofRole.includes(one)) : (tokenScopes ?? ofRole);
  return { ...caller, operator, scopes };
}

function sessionOf({ via, key }: Caller): string | null {
  return via === 'console' ? key : null;
}

/** Returns the caller's console session, to be kept when the caller changes its own credentials. @param credentials before the change */
export function keptSessionOf(caller: Caller, credentials: string): SessionCredentials | null {
  const hash = sessionOf(caller);
  return hash === null ? null : { hash, credentials };
}

/** Returns whether the caller is a person with a console session or a password, and no token. */
export const isPerson = ({ via }: Caller): boolean => via !== 'token';

export const isSeller = (caller: Caller | undefined): boolean => caller?.operator?.role === 'seller';

export const isAdministrator = (caller: Caller): boolean => isPerson(caller) && caller.operator === null;

export const accountsFor = (accounts: Accounts, caller: Caller | undefined): Accounts =>
  caller?.operator && isSeller(caller) ? accountsOfSeller(accounts, caller.operator.id) : accounts;

/** Returns the caller as the audit log names it. Behind the guards there always is a caller. */
export function actorOf(caller: Caller | undefined): Actor {
  if (!caller) return DAEMON;
  const { via, operator, address, requestKey } = caller;
  const name = via === 'token' && operator ? `${operator.name}/${caller.name}` : caller.name;
  return {
    name,
    via: via === 'basic' ? 'api' : via,
    address: via === 'cli' ? null : address,
    ...(operator ? { operatorId: operator.id } : {}),
    requestKey,
  };
}

/** The state of a request that its middleware shares. */
export interface AdminState {
  /** Client address, unmapped; see guards/client.ts. */
  client: string;
  /** An untrusted peer forwarded the request. Routes for local clients refuse it. */
  isForwarded: boolean;
  /** Every host, with its port, that the request names. */
  hosts: readonly string[];
  /** Set by authentication. */
  caller: Caller | undefined;
  /** Id of the account whose secret address the request uses. */
  player?: string;
  /** The link of the request, and the password that it makes; null: an address of an earlier version. */
  subscription?: { readonly token: string; readonly password: string } | null;
}

/**
 * Returns the problem of a caller who has lost its access, or has another role now; null: nothing changed. Reading a body can take
 * minutes, and a stream outlives its request: meanwhile the caller may be disabled, removed or signed out.
 */
export type LostAccess = (caller: Caller) => ProblemAnswer | null;

export function createLostAccess(of: {
  readonly principals: Pick<Principals, 'get'>;
  readonly consoleSessions: Pick<ConsoleSessions, 'isOpen'>;
  readonly apiTokens: Pick<ApiTokens, 'isValid'>;
  readonly whitelist: Pick<Whitelist, 'allows'>;
}): LostAccess {
  const isStillGood: Readonly<Record<Caller['via'], (key: string, principal: Principal) => boolean>> = {
    basic: (key, principal) => key === principal.fingerprint(),
    console: of.consoleSessions.isOpen,
    token: of.apiTokens.isValid,
    cli: () => true,
  };
  return ({ via, key, address, operator }) => {
    if (via === 'cli') return null;
    const principal = of.principals.get(operator?.id ?? null);
    if (!principal) return { problem: 'signed-out' };
    if (principal.operator?.role !== operator?.role) return failure('wrong-role', 'role-changed');
    if (!isStillGood[via](key ?? '', principal)) return { problem: 'signed-out' };
    return of.whitelist.allows(address) ? null : failure('forbidden', 'not-whitelisted', { address });
  };
}
