// The operators besides the administrator. The database stores them, and this module keeps them in memory.
import { type Budget, NO_BUDGET, NO_COST } from '../accounts/plans/budget.js';
import { type Actor, type AuditRecord, auditRecord, changedPassword, differences } from '../audit/audit.js';
import type { Clock } from '../time/clock.js';
import { createTurns } from '../time/turns.js';
import { OPERATORS_KEY, type Operator, OperatorNameTaken, type OperatorStore } from './operator.js';
import type { Credential, PasswordFault, PeoplePasswords } from './people-passwords.js';
import { isValidPersonName, passwordFault } from './people-passwords.js';

interface NewOperator extends Pick<Operator, 'name' | 'role'> {
  readonly password: string;
  /** Bounds for a seller; undefined: none. */
  readonly budget?: Budget | undefined;
}

/** A field that is undefined stays unchanged. */
type OperatorChange = {
  readonly [K in 'name' | 'role' | 'password']?: NewOperator[K] | undefined;
} & {
  readonly isEnabled?: boolean | undefined;
  /** With a new password: also revokes the operator's tokens. */
  readonly revokeTokens?: boolean;
  /** The changed bounds. */
  readonly budget?: Partial<Budget> | undefined;
};

export type OperatorRefusal = 'invalid-name' | 'name-taken' | PasswordFault;

type OperatorResult<Reason = OperatorRefusal> =
  | { readonly ok: true; readonly operator: Operator }
  | { readonly ok: false; readonly reason: Reason };

/** Every change rejects, and changes nothing, when the database cannot be written. */
export type Operators = ReturnType<typeof createOperators>;

/** @param isReserved whether a name belongs to the administrator */
export function createOperators(options: {
  readonly store: OperatorStore;
  readonly passwords: PeoplePasswords;
  readonly isReserved: (name: string) => boolean;
  readonly newId: () => string;
  readonly now: Clock;
}) {
  const { store, passwords, isReserved, newId, now } = options;
  let byId: ReadonlyMap<string, Operator> = new Map();
  const inTurn = createTurns();

  const hold = (operators: Iterable<Operator>): void => {
    const next = new Map(Array.from(operators, (operator) => [operator.id, operator]));
    for (const before of byId.values()) {
      const after = next.get(before.id);
      if (!after || !hasSameAccess(before, after)) passwords.forget(before.id);
    }
    byId = next;
  };
  const replace = (operator: Operator): void =>
    hold([...byId.values()].map((each) => (each.id === operator.id ? operator : each)));
  const byName = (name: string): Operator | null =>
    [...byId.values()].find((operator) => operator.name === name) ?? null;

  function changeRefusal(
    { name, password }: Pick<OperatorChange, 'name' | 'password'>,
    id?: string,
  ): OperatorRefusal | null {
    if (name !== undefined) {
      if (!isValidPersonName(name)) return 'invalid-name';
      const holder = byName(name);
      if (isReserved(name) || (holder && holder.id !== id)) return 'name-taken';
    }
    return password === undefined ? null : passwordFault(password);
  }

  /** Another process may have used the name a moment ago. */
  async function unlessTaken<T>(write: Promise<T>): Promise<T | 'name-taken'> {
    return write.catch((error: unknown) => {
      if (error instanceof OperatorNameTaken) return 'name-taken' as const;
      throw error;
    });
  }

  /** Another process may change the operator too: `storedRefusal` and the fields that stay are about the stored one. */
  const change = async <Refusal extends string = never>(
    id: string,
    { name, role, isEnabled, password, budget, revokeTokens }: OperatorChange,
    by: Actor,
    storedRefusal: (stored: Operator) => Refusal | null,
  ): Promise<OperatorResult<OperatorRefusal | 'not-found' | Refusal>> => {
    const refusalNow = () => (byId.has(id) ? changeRefusal({ name, password }, id) : 'not-found');
    const early = refusalNow();
    if (early) return refused(early);
    const passwordHash = password === undefined ? undefined : await passwords.hash(password);
    return inTurn(OPERATORS_KEY, async () => {
      const refusal = refusalNow();
      if (refusal) return refused(refusal);
      const update = store.update<Refusal>(id, (stored) => {
        const operator: Operator = {
          ...stored,
          name: name ?? stored.name,
          role: role ?? stored.role,
          isEnabled: isEnabled ?? stored.isEnabled,
          passwordHash: passwordHash ?? stored.passwordHash,
          budget: { ...stored.budget, ...budget },
        };
        const tokens = password !== undefined && (revokeTokens ?? false);
        const ended = hasSameAccess(stored, operator) ? null : { operatorId: id, tokens };
        return storedRefusal(stored) ?? { operator, audit: recordOf(by, stored, operator, tokens), ended };
      });
      const operator = await unlessTaken(update);
      if (typeof operator === 'string') return refused(operator);
      if (!operator) return refused('not-found');
      replace(operator);
      if (password !== undefined) passwords.remember(credentialOf(operator), password);
      return { ok: true, operator };
    });
  };

  return {
    key: OPERATORS_KEY,
    reload: () => inTurn(OPERATORS_KEY, async () => hold(await store.all())),
    list: (): Operator[] => [...byId.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    get: (id: string): Operator | null => byId.get(id) ?? null,

    /** What the operator with this name signs in with; null: there is none, or it is disabled. */
    credential(name: string): Credential | null {
      const operator = byName(name);
      return operator?.isEnabled ? credentialOf(operator) : null;
    },

    async create(
      { name, role, password, budget = NO_BUDGET }: NewOperator,
      by: Actor,
    ): Promise<OperatorResult> {
      const early = changeRefusal({ name, password });
      if (early) return refused(early);
      const passwordHash = await passwords.hash(password);
      return inTurn(OPERATORS_KEY, async () => {
        const refusal = changeRefusal({ name, password });
        if (refusal) return refused(refusal);
        const identity = { id: newId(), name, passwordHash, role, isEnabled: true, createdAt: now() };
        const operator = { ...identity, budget, used: NO_COST };
        const added = await unlessTaken(store.add(operator, recordOf(by, null, operator)));
        if (added === 'name-taken') return refused(added);
        hold([...byId.values(), operator]);
        passwords.remember(credentialOf(operator), password);
        return { ok: true, operator };
      });
    },

    change: (
      id: string,
      fields: OperatorChange,
      by: Actor,
    ): Promise<OperatorResult<OperatorRefusal | 'not-found'>> => change<never>(id, fields, by, () => null),

    /** Changes the password if the stored hash still is `currentHash`. */
    async setPassword(
      id: string,
      currentHash: string,
      password: string,
      by: Actor,
      revokeTokens: boolean,
    ): Promise<'wrong-password' | PasswordFault | null> {
      const fault = passwordFault(password);
      if (fault) return fault;
      const changed = await change(id, { password, revokeTokens }, by, ({ passwordHash }) =>
        passwordHash === currentHash ? null : 'wrong-password',
      );
      // Nothing else refuses it but that the operator is no more.
      return changed.ok ? null : 'wrong-password';
    },

    /** Replaces the hash of a password that stays, if the stored hash still is `currentHash`. */
    renewHash: (id: string, currentHash: string, passwordHash: string): Promise<void> =>
      inTurn(OPERATORS_KEY, async () => {
        const renewed = await store.update(id, (stored) =>
          stored.passwordHash === currentHash
            ? { operator: { ...stored, passwordHash }, audit: null, ended: null }
            : 'changed-meanwhile',
        );
        if (renewed !== null && typeof renewed !== 'string') replace(renewed);
      }),

    /**
     * Removes an operator with its sessions, tokens and second factor; null when it does not exist. The administrator becomes the
     * owner of its accounts.
     */
    remove: (id: string, by: Actor): Promise<Operator | null> =>
      inTurn(OPERATORS_KEY, async () => {
        const operator = byId.get(id);
        if (!operator || !(await store.remove(id, recordOf(by, operator, null)))) return null;
        hold([...byId.values()].filter((each) => each.id !== id));
        return operator;
      }),
  };
}

const credentialOf = ({ id, passwordHash, role, name }: Operator): Credential => ({
  operatorId: id,
  passwordHash,
  state: `${role} ${name}`,
});

export const hasSameAccess = (a: Operator, b: Operator): boolean =>
  a.name === b.name && a.role === b.role && a.passwordHash === b.passwordHash && a.isEnabled === b.isEnabled;

function refused<Reason>(reason: Reason): { ok: false; reason: Reason } {
  return { ok: false, reason };
}

/**
 * Returns the audit record of a change. For a password it only records the fact. At least one of `before` and `after` is not null.
 */
function recordOf(
  by: Actor,
  before: Operator | null,
  after: Operator | null,
  revokesTokens = false,
): AuditRecord {
  const operator = after ?? before;
  const object = { type: 'operator', id: operator?.id ?? null, name: operator?.name ?? null } as const;
  if (!before) return auditRecord(by, 'operator.create', object, null, after && shown(after));
  if (!after) return auditRecord(by, 'operator.delete', object, shown(before));
  const changed = differences(shown(before), shown(after));
  const isNewPassword = before.passwordHash !== after.passwordHash;
  const password = isNewPassword ? changedPassword(revokesTokens) : {};
  return auditRecord(by, 'operator.update', object, changed.before, { ...changed.after, ...password });
}

const shown = ({ name, role, isEnabled, budget }: Operator): Record<string, unknown> => ({
  name,
  role,
  isEnabled,
  ...(role === 'seller'
    ? { budgetAccounts: budget.accounts, budgetDays: budget.days, budgetBytes: budget.bytes }
    : {}),
});
