// Why a request was refused: a code with its values for programs, which have their own texts, and an English text.
import { z } from 'zod';
import { STORAGE_PROBLEMS } from '../../core/storage.js';
import { fillText } from '../../core/text.js';

/** Braces in a text contain the name of a value. */
export const REASON_TEXTS = {
  'account-changed': 'the account changed after this ETag was read',
  'limits-changed': 'the limits changed after this ETag was read',
  'factor-on': 'the second factor is already on',
  'factor-off': 'the second factor is off',
  'no-new-secret': 'there is no new secret to confirm',
  'run-finished': 'the run is already finished',
  'run-elsewhere': 'another daemon is running it',
  'too-many-tokens': 'the maximum number of tokens is reached',
  'no-exit': 'there is no such exit',
  'exit-exists': 'there is an exit of this name',
  'exit-fixed': 'the exit is in the configuration (socks.upstreams) and can be changed only there',
  'exit-in-use': 'accounts or plans use the exit, or it is the default one: give them another one first',
  'too-many-exits': 'the maximum number of exits is reached (256)',
  'exit-needs-native':
    'interface, mark and networks need the native engine (socks.engine), which does not run here',
  'exit-needs-net-admin': 'a mark needs the capability CAP_NET_ADMIN: see etc/README.md, Exits',
  'exit-no-interface': 'this machine has no network interface of this name',
  'no-account': 'there is no such account',
  'no-session': 'there is no such live session',
  'no-notice': 'there is no such notice',
  'notice-waits': 'the notice waits for its next attempt',
  'channel-not-set': 'the channel or the operator’s address in it is not set',
  'wrong-contact-code': 'the code is wrong, has expired, or was replaced by a newer one',
  'no-player-channel': 'the account has no such address, or notices to players are off in this channel',
  'too-many-messages':
    'this address got a code a few minutes ago, or the seller has sent as many messages as it may (notices.sellerPerHour)',
  'no-token': 'there is no such token',
  'no-operator': 'there is no such operator',
  'no-node': 'there is no such node',
  'no-subscription': 'the account has no link',
  'fixed-session-key': 'the agent has a fixed session key, which differs from this one',
  stopping: 'the daemon is shutting down',
  hashes: 'only the administrator may export password hashes',
  'tokens-may-not': 'tokens may not do this',
  'administrator-only': 'only the administrator may do this',
  'of-all-accounts': 'this covers all accounts; a seller may see only its own accounts',
  'role-changed': 'the role was changed during the request',
  'rights-lost': 'the operator may no longer change accounts',
  'not-own-account': 'a seller may change only its own accounts',
  'owner-gone': 'the new owner of the account does not exist',
  'not-whitelisted': 'the address {address} is not in the whitelist',
  'through-own-proxy': 'the request came through the proxy of this daemon',
  confirm:
    'give the password or a one-time code again: POST /api/v1/session/confirm (admin.session.confirmFor)',
  'cross-site': 'the request came from a page of another site',
  'host-not-allowed': 'the host name is not in admin.allowedHosts',
  'search-too-slow':
    'the search took longer than database.readTimeout; search for three characters or more, or filter',
  'searches-busy': 'other searches took longer than database.readTimeout; try again in a moment',
  ...STORAGE_PROBLEMS,
  'database-away':
    'the database does not answer; a change may or may not have been made: check before you repeat it',
  'name-taken': 'another operator or the administrator has the name',
  'import-type': 'send text/csv, application/json or text/plain',
  importing: 'another import of yours is in progress: wait until it ends',
  'too-many-streams': 'the maximum number of event streams is open',
  'no-player-page': 'the daemon serves no links for players; set admin.playerPage.enabled',
  'too-many-attempts': 'too many failed login attempts from this address (admin.attempts)',
  'password-checks-busy':
    'too many passwords wait for their check (admin.signInChecks); try again in a few seconds',
  'too-many-codes':
    'too many wrong one-time codes of this user (admin.attempts.maxCodeFailures): use a recovery code, or an address of a recent sign-in',
  'query-twice': 'a query parameter is given more than once',
  'audit-days': 'tokens may not shorten the audit log (auditDays)',
  'lacks-scope': 'the token lacks the scope {scope}',
  'role-lacks-scope': 'the role {role} lacks the scope {scope}',
  'own-role-lacks-scope': 'your role lacks the scope {scope}',
  'file-too-large': 'a file may have at most {max} bytes',
  'preview-outdated': 'the preview counted {expected} accounts; there are {now} now',
  'not-listed': 'the list does not contain {address}',
  'no-agent': 'there is no such agent',
  'no-run': 'there is no such run',
  'no-conversation': 'there is no such conversation',
  'backup-busy': 'another backup is in progress',
  'backup-postgres': 'the database is PostgreSQL: back it up with pg_dump',
} as const;

export type ReasonCode = keyof typeof REASON_TEXTS;

export const ProblemReason = z
  .object({
    code: z.enum(Object.keys(REASON_TEXTS) as [ReasonCode, ...ReasonCode[]]),
    /** The values for the braces of the text. */
    values: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: 'ProblemReason' });

/** Returns the detail of a problem, as a text and as a code. */
export function because(
  code: ReasonCode,
  values: Readonly<Record<string, string | number>> = {},
): { readonly detail: string; readonly reason: z.infer<typeof ProblemReason> } {
  return { detail: fillText(REASON_TEXTS[code], values), reason: { code, values } };
}
