// The users who can sign in: the administrator and the operators. Each has a password, a second factor and recovery codes.
import type { Actor, AuditRecord } from '../audit/audit.js';
import type { Clock } from '../clock.js';
import type { Reloadable } from '../settings/setting.js';
import type { CounterStore, SettingStore } from '../settings/setting-store.js';
import type { AdminCredentials } from './admin-credentials.js';
import { fingerprintOf } from './fingerprint.js';
import { type Operator, operatorSettingsPrefix } from './operator.js';
import type { Operators } from './operators.js';
import { createRecoveryCodes, type RecoveryCodes } from './recovery-codes.js';
import { createSecondFactor, type SecondFactor } from './second-factor.js';

export interface Principal {
  readonly name: string;
  /** null: the administrator. */
  readonly operator: Operator | null;
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
  /** A digest that changes with user name, password, role and second factor, without revealing them. */
  fingerprint(): string;
  verifyPassword(password: string): boolean;
  /**
   * Changes the password, if `current` is still the stored one. Returns why it is refused; null: it is changed. Rejects when the password
   * cannot be written.
   */
  setPassword(
    current: string,
    password: string,
    by: Actor,
  ): Promise<'wrong-password' | 'invalid-password' | 'short-password' | null>;
}

export interface Principals extends Reloadable {
  /** Returns the user with this name and password. An operator with the administrator's name cannot sign in. */
  verify(username: string, password: string): Principal | null;
  /** `null` is the administrator. Returns null for an operator that is disabled or does not exist. */
  get(operatorId: string | null): Principal | null;
  /** Returns the second factor of an operator, even of a disabled one. */
  secondFactorOf(operatorId: string): SecondFactor | null;
}

interface Factors {
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
}

export interface PrincipalDeps {
  readonly credentials: AdminCredentials;
  readonly operators: Operators;
  readonly settings: SettingStore & CounterStore;
  /** Reads a setting, and again after another process changed it. */
  readonly open: <Kind extends Reloadable>(setting: Kind) => Promise<Kind>;
  readonly now: Clock;
}

/** `reload` reads the operators and opens their second factors. Rejects when the database cannot be read. */
export async function openPrincipals(deps: PrincipalDeps): Promise<Principals> {
  const { credentials, operators } = deps;
  const openFactors = async (prefix: string, object: AuditRecord['object']): Promise<Factors> => ({
    secondFactor: await deps.open(
      createSecondFactor({ settings: deps.settings, now: deps.now, prefix, object }),
    ),
    recoveryCodes: await deps.open(createRecoveryCodes(deps.settings, prefix, object)),
  });
  const ofAdministrator = await openFactors('admin', { type: 'admin', id: null, name: null });
  const ofOperators = new Map<string, Factors>();

  async function openNew(): Promise<void> {
    for (const { id, name } of operators.list()) {
      if (ofOperators.has(id)) continue;
      ofOperators.set(id, await openFactors(operatorSettingsPrefix(id), { type: 'operator', id, name }));
    }
  }

  const administrator: Principal = {
    get name() {
      return credentials.username();
    },
    operator: null,
    ...ofAdministrator,
    fingerprint: () =>
      fingerprintOf(`${credentials.fingerprint()} ${ofAdministrator.secondFactor.fingerprint()}`),
    verifyPassword: (password) => credentials.verify(credentials.username(), password),
    async setPassword(current, password, by) {
      const set = await credentials.setPassword(current, password, by);
      return set.ok ? null : passwordFault(set.reason);
    },
  };

  function principalOf(operator: Operator): Principal | null {
    const factors = ofOperators.get(operator.id);
    if (!factors || !operator.isEnabled) return null;
    const { id, name, role, passwordHash } = operator;
    return {
      name,
      operator,
      ...factors,
      fingerprint: () =>
        fingerprintOf(`${id} ${name} ${role} ${passwordHash} ${factors.secondFactor.fingerprint()}`),
      verifyPassword: (password) => operators.verify(name, password) !== null,
      async setPassword(current, next, by) {
        const changed = await operators.setPassword(id, current, next, by);
        return changed.ok ? null : passwordFault(changed.reason);
      },
    };
  }

  const principals: Principals = {
    key: operators.key,
    async reload() {
      await operators.reload();
      await openNew();
    },

    verify(username, password) {
      if (credentials.verify(username, password)) return administrator;
      const operator = operators.verify(username, password);
      return operator && username !== credentials.username() ? principalOf(operator) : null;
    },

    get(operatorId) {
      if (operatorId === null) return administrator;
      const operator = operators.get(operatorId);
      return operator && principalOf(operator);
    },

    secondFactorOf: (operatorId) => ofOperators.get(operatorId)?.secondFactor ?? null,
  };
  return deps.open(principals);
}

function passwordFault(reason: string): 'wrong-password' | 'invalid-password' | 'short-password' {
  return reason === 'wrong-password' || reason === 'short-password' ? reason : 'invalid-password';
}
