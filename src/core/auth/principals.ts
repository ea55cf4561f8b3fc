// The users who can sign in: the administrator and the operators. Each has a password, a second factor and recovery codes.
import type { Actor, AuditRecord } from '../audit/audit.js';
import { getOrAdd } from '../maps.js';
import type { CounterStore, Reloadable, SettingStore } from '../settings/setting.js';
import type { Clock } from '../time/clock.js';
import type { AdminCredentials } from './admin-credentials.js';
import { type Operator, operatorSettingsPrefix } from './operator.js';
import type { Operators } from './operators.js';
import {
  type Credential,
  fingerprintOf,
  type PasswordFault,
  type PeoplePasswords,
} from './people-passwords.js';
import {
  createRecoveryCodes,
  createSecondFactor,
  type RecoveryCodes,
  type SecondFactor,
} from './second-factor.js';
import type { TotpKeys } from './totp.js';

export interface Principal {
  readonly name: string;
  /** null: the administrator. */
  readonly operator: Operator | null;
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
  /** A digest that changes with user name, password, role and second factor, without revealing them. */
  fingerprint(): string;
  /** Like `Principals.verify`, for this user. */
  verifyPassword(password: string): Promise<boolean>;
  /**
   * Changes the password, if `current` is the stored one, and revokes the tokens if asked. Returns why it is refused; null: it is
   * changed. Rejects when the password cannot be written.
   */
  setPassword(
    current: string,
    password: string,
    by: Actor,
    revokeTokens: boolean,
  ): Promise<'wrong-password' | PasswordFault | null>;
}

interface Factors {
  readonly secondFactor: SecondFactor;
  readonly recoveryCodes: RecoveryCodes;
}

export type Principals = Awaited<ReturnType<typeof openPrincipals>>;

/** `reload` reads the operators and opens their second factors. Rejects when the database cannot be read. */
export async function openPrincipals(deps: {
  readonly credentials: AdminCredentials;
  readonly operators: Operators;
  readonly passwords: PeoplePasswords;
  readonly settings: SettingStore & CounterStore;
  /** Reads a setting, and again after another process changed it. */
  readonly open: <Kind extends Reloadable>(setting: Kind) => Promise<Kind>;
  readonly now: Clock;
  readonly totpKeys: TotpKeys;
  /** Called when a hash could not be renewed, or a secret not encrypted. */
  readonly onError: (error: unknown) => void;
  /** Called for a second factor whose key is missing or another one. */
  readonly onUnreadable: (object: AuditRecord['object']) => void;
}) {
  const { credentials, operators, passwords } = deps;
  async function openFactors(prefix: string, object: AuditRecord['object']): Promise<Factors> {
    const { settings, now, totpKeys } = deps;
    const secondFactor = await deps.open(
      createSecondFactor({ settings, now, keys: totpKeys, prefix, object }),
    );
    await secondFactor.sealStored().catch(deps.onError);
    if (!secondFactor.isReadable()) deps.onUnreadable(object);
    return { secondFactor, recoveryCodes: await deps.open(createRecoveryCodes(settings, prefix, object)) };
  }
  const ofAdministrator = await openFactors('admin', { type: 'admin', id: null, name: null });
  const ofOperators = new Map<string, Factors>();

  /** Checks in progress. Programs start with many equal requests at once, which cost one check. */
  const checks = new Map<string, Promise<Principal | null>>();

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
    verifyPassword: (password) => isRight(credentials.username(), password),
    async setPassword(current, password, by, revokeTokens) {
      await credentials.reload();
      const currentHash = await hashIfRight(credentials.username(), current);
      if (currentHash === null) return 'wrong-password';
      return credentials.setPassword(currentHash, password, by, revokeTokens);
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
      verifyPassword: (password) => isRight(name, password),
      async setPassword(current, next, by, revokeTokens) {
        await operators.reload();
        const currentHash = await hashIfRight(name, current);
        if (currentHash === null) return 'wrong-password';
        return operators.setPassword(id, currentHash, next, by, revokeTokens);
      },
    };
  }

  const credentialNamed = (username: string): Credential | null =>
    username === credentials.username() ? credentials.credential() : operators.credential(username);

  function get(operatorId: string | null): Principal | null {
    if (operatorId === null) return administrator;
    const operator = operators.get(operatorId);
    return operator && principalOf(operator);
  }

  function recall(username: string, password: string): Principal | null {
    const credential = credentialNamed(username);
    return credential && passwords.remembers(credential, password) ? get(credential.operatorId) : null;
  }

  async function check(username: string, password: string): Promise<Principal | null> {
    const credential = credentialNamed(username);
    const { passwordHash } = credential ?? credentials.credential() ?? { passwordHash: '' };
    const { isRight, renewed } = await passwords.check(password, passwordHash);
    if (!credential || !isRight) return null;
    if (renewed !== null) {
      const { operatorId } = credential;
      const saved =
        operatorId === null
          ? credentials.renewHash(passwordHash, renewed)
          : operators.renewHash(operatorId, passwordHash, renewed);
      await saved.catch(deps.onError);
    }
    // The credential may have changed during the check.
    const now = credentialNamed(username);
    if (now?.operatorId !== credential.operatorId || ![passwordHash, renewed].includes(now.passwordHash))
      return null;
    passwords.remember(now, password);
    return get(now.operatorId);
  }

  async function verify(username: string, password: string): Promise<Principal | null> {
    if (username === credentials.username()) await credentials.settle();
    const known = recall(username, password);
    if (known) return known;
    const key = JSON.stringify([username, password]);
    return getOrAdd(checks, key, () => check(username, password).finally(() => checks.delete(key)));
  }

  const isRight = async (name: string, password: string): Promise<boolean> =>
    (await verify(name, password)) !== null;
  const hashIfRight = async (name: string, password: string): Promise<string | null> =>
    (await isRight(name, password)) ? (credentialNamed(name)?.passwordHash ?? null) : null;

  return deps.open({
    key: operators.key,
    async reload(): Promise<void> {
      await operators.reload();
      await openNew();
    },

    /** Like `verify`, for credentials that were accepted a moment ago and have not changed since; null: `verify` decides. */
    recall,
    /**
     * Returns the user with this name and password. An operator with the administrator's name cannot sign in. An unknown name takes as long
     * as a wrong password. A stored hash of an older form is renewed. Rejects with PasswordChecksBusy.
     */
    verify,
    /** Resolves when the stored password of the administrator is the given one, if one was given at the start. */
    settle: credentials.settle,
    /** `null` is the administrator. Returns null for an operator that is disabled or does not exist. */
    get,
    /** Returns the second factor of an operator, even of a disabled one. */
    secondFactorOf: (operatorId: string): SecondFactor | null =>
      ofOperators.get(operatorId)?.secondFactor ?? null,
  });
}
