// /api/v1/accounts/batch: creates many accounts at once, from a pattern or a list, with a preview.
import { z } from 'zod';
import { isValidPassword, isValidUsername } from '../../../core/accounts/account.js';
import { contactsReason, type NewAccount } from '../../../core/accounts/account-input.js';
import { fieldReason, readAddressLists } from '../../../core/accounts/fields/account-fields.js';
import { wrongContact } from '../../../core/accounts/fields/contacts.js';
import { type Cost, costOf, sumOf } from '../../../core/accounts/plans/budget.js';
import { NO_LIMITS } from '../../../core/accounts/usage/limits.js';
import type { Moment } from '../../../core/accounts/usage/traffic-store.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { Count, component } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { credentials, randomPassword } from './credentials.js';
import { ContactsChange, NewAccountFields, Password, Remarks, Username } from './field-schemas.js';
import { Credentials, SkippedAccount } from './schemas.js';
import { changeOf, NO_SETTINGS, namesProblem, problemOf, rightsProblem, withTerms } from './shared.js';
import { BudgetPreview, budgetPreview, inAuditedSlices } from './slices.js';

const { route } = routesOf('Accounts');
const MAX_AT_ONCE = 10_000;

const NewAccounts = z
  .object({
    /** `{001-120}` counts with leading zeros: `player{001-120}` makes player001 … player120. */
    pattern: z.string().min(1).max(300).optional(),
    /** The alternative to `pattern`: a list. An account without a password gets a random one. */
    list: z
      .array(
        z.object({
          username: Username,
          password: Password.optional(),
          remarks: Remarks.optional(),
          /** Take precedence over those of all accounts. */
          contacts: ContactsChange.optional(),
        }),
      )
      .min(1)
      .max(10_000)
      .optional(),
    ...NewAccountFields,
    /** true: writes nothing, and the answer says what would happen. */
    dryRun: z.boolean().default(false),
  })
  .meta({
    id: 'NewAccounts',
    description: 'Exactly one of `pattern` and `list`; at most 10,000 accounts at once.',
  });

const NewAccountsResult = component('NewAccountsResult', {
  dryRun: z.boolean(),
  /** Number of accounts that were created, or with `dryRun` would be. */
  count: Count,
  /** Empty with `dryRun`: then `usernames` contains the names. */
  created: z.array(Credentials),
  usernames: z.array(z.string()),
  skipped: z.array(SkippedAccount),
  /** With `dryRun`: what the accounts need of the caller's budget; null: the caller has none. */
  budget: BudgetPreview.nullable(),
});

export const accountBatchRoutes = [
  route('POST /api/v1/accounts/batch', 'createAccounts', 'accounts:write', {
    summary: 'Creates many accounts from a pattern or a list, or previews this.',
    bulkBody: true,
    request: { body: NewAccounts },
    success: [200, 'What was created and what was skipped.', NewAccountsResult],
    async handle({ body, caller, ctx }, deps) {
      const { accounts } = deps;
      const wanted = requested(body);
      if (!Array.isArray(wanted)) return wanted;
      const wrong = rightsProblem(caller, body, NO_SETTINGS) ?? namesProblem(deps, body);
      if (wrong) return wrong;
      const { pattern: _, list: __, dryRun, plan, remarks: sameRemarks, ...fields } = body;
      const change = withTerms(deps, changeOf(fields), plan);
      if ('problem' in change) return change;
      const reason = fieldReason(change) ?? contactsReason(change);
      if (reason !== null) return problemOf({ reason });
      const read = readAddressLists(change, accounts);
      if (!read.ok) return problemOf(read);
      const skipped: SkippedAccount[] = [];
      const accepted: NewAccount[] = [];
      const seen = new Set<string>();
      for (const { username, password = randomPassword(), remarks = sameRemarks, ...one } of wanted) {
        const contacts = { ...change.contacts, ...changeOf(one).contacts };
        const reason = seen.has(username)
          ? 'username-twice'
          : (newAccountRefusal(username, password, accounts.hasUsername(username)) ??
            (wrongContact(contacts) && 'bad-contacts'));
        seen.add(username);
        if (reason) skipped.push({ id: null, username, reason });
        else accepted.push({ ...read.change, username, password, remarks, contacts });
      }
      if (dryRun) {
        const usernames = accepted.map(({ username }) => username);
        const budget = await budgetPreview(deps, caller, () =>
          sumOf(accepted.map((one) => costOfNew(one, { now: deps.now(), calendar: deps.calendar }))),
        );
        const preview = { dryRun, count: accepted.length, created: [], usernames, skipped, budget };
        return { body: preview };
      }
      const by = actorOf(caller);
      const created: Record<string, unknown>[] = [];
      const undone = await inAuditedSlices(accepted, deps, { by, type: 'create' }, async (slice, actor) => {
        const { added, refused } = await accounts.addMany(slice, actor);
        for (const { index, account } of added) {
          const { id, username } = account;
          const password = slice[index]?.password ?? '';
          created.push(credentials(deps, ctx.hostname, { id, username, password }));
        }
        for (const { index, reason } of refused) {
          const username = slice[index]?.username ?? '';
          skipped.push({ id: null, username, reason: reason === 'username-taken' ? reason : 'failed' });
        }
        return added.length;
      });
      for (const { username } of undone) skipped.push({ id: null, username, reason: 'failed' });
      const made = { dryRun, count: created.length, created, usernames: [], skipped, budget: null };
      return { body: made };
    },
  }),
];

const costOfNew = ({ expiresAt = null, daysFromFirstLogin = null, limits }: NewAccount, at: Moment): Cost =>
  costOf(null, { expiresAt, daysFromFirstLogin, limits: { ...NO_LIMITS, ...limits }, quotaReset: null }, at);

type Listed = NonNullable<z.output<typeof NewAccounts>['list']>[number];

function requested({ pattern, list }: z.output<typeof NewAccounts>): Listed[] | ProblemAnswer {
  if ((pattern === undefined) === (list === undefined)) {
    return invalid('body', 'one-of', { allowed: 'pattern, list' });
  }
  if (list) return list;
  const names = namesOfPattern(pattern ?? '', MAX_AT_ONCE);
  if (!names) return invalid('body.pattern', 'pattern', { max: MAX_AT_ONCE });
  return names.map((username) => ({ username }));
}

function newAccountRefusal(
  username: string,
  password: string,
  isTaken: boolean,
): SkippedAccount['reason'] | null {
  if (!isValidUsername(username)) return 'bad-username';
  if (!isValidPassword(password)) return 'bad-password';
  return isTaken ? 'username-taken' : null;
}

const RANGE = /^([^{}]*)\{(\d{1,9})-(\d{1,9})\}([^{}]*)$/;

/** The names of a pattern in order; null for an invalid pattern, no names, or more than `max` names. */
export function namesOfPattern(pattern: string, max: number): string[] | null {
  const [, before = '', first = '', last = '', after = ''] = RANGE.exec(pattern) ?? [];
  if (first === '') return null;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > max) return null;
  const width = first.startsWith('0') ? first.length : 1;
  return Array.from(
    { length: count },
    (_, i) => `${before}${String(Number(first) + i).padStart(width, '0')}${after}`,
  );
}
