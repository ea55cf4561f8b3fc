// Logins in one worker: applies the login guard, checks credentials, and reports the result.
import type { AccessRules, AccountRefusal, LoginFailure } from '../../core/accounts/access/login.js';
import { accountRefusal, createLogin, isAccountRefusal, isGuess } from '../../core/accounts/access/login.js';
import { hashPassword } from '../../core/accounts/access/password.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { Endpoint } from '../../core/addresses/ip.js';
import type { Penalty } from '../../core/auth/penalties.js';
import { printable } from '../../core/text.js';
import { PLUS } from '../memory/hash.js';
import type { AccountRecord } from '../plane-settings.js';
import { type ProxySources, UNIX_CLIENT } from '../protocols/proxy-header.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerAccounts } from '../worker/accounts.js';
import type { WorkerBase } from '../worker/base.js';
import type { LoginGuard } from './login-guard.js';

export interface LoginsOptions extends AccessRules {
  readonly accounts: WorkerAccounts;
  readonly isTrustedProxy: ProxySources;
  readonly guard: LoginGuard;
  /** Whether a client of the account may choose the exit by a suffix of the user name; null: no client may choose one. */
  readonly mayChooseExit: ((exit: string, account: AccountRecord) => boolean) | null;
}

export interface LoggedIn {
  readonly account: WorkerAccount;
  /** That the client has chosen; null: none. */
  readonly exit: string | null;
  /** Of the link whose password it has given; null: it gave the account's own. */
  readonly linkHash: string | null;
}

export class Logins {
  readonly #base: Pick<WorkerBase, 'events' | 'log' | 'readMessages'>;
  readonly #options: LoginsOptions;
  readonly #check: ReturnType<typeof createLogin<WorkerAccount['record']>>;
  #refusedUnchecked = 0;
  #withoutCredentials = 0;

  constructor(base: Pick<WorkerBase, 'events' | 'log' | 'readMessages'>, options: LoginsOptions) {
    const { accounts } = options;
    this.#base = base;
    this.#options = options;
    this.#check = createLogin({
      directory: { byUsername: (name) => accounts.byUsername(name)?.record },
      access: options,
      now: Date.now,
    });
  }

  /**
   * Null: refused. A blocked login is checked like any other, so that it takes as long, and is always refused.
   */
  logIn({ address }: Endpoint, given: Uint8Array, password: Uint8Array): LoggedIn | null {
    const { accounts, guard, mayChooseExit } = this.#options;
    // A login uses every change that was acknowledged before it.
    this.#base.readMessages();
    const isWhole =
      mayChooseExit === null || accounts.byUsername(Buffer.from(given).toString()) !== undefined;
    const plus = isWhole ? -1 : given.lastIndexOf(PLUS);
    const username = plus > 0 ? given.subarray(0, plus) : given;
    const exit = plus > 0 ? Buffer.from(given.subarray(plus + 1)).toString() : null;
    // Clients of a Unix socket have no address by which to count them.
    const verdict = address === UNIX_CLIENT ? 'check' : guard.attempt(address, username);
    const result = this.#check(username, password, address);
    const shown = (name: string): string => (exit === null ? name : `${name}+${printable(exit)}`);
    if (verdict === 'check') {
      if (address !== UNIX_CLIENT) {
        if (!result.ok && isGuess(result.reason)) this.#publish(guard.failed(address, username));
        else guard.succeeded(address, username);
      }
      if (!result.ok) return this.#failed(address, result.reason, shown(result.username), username);
      const account = accounts.byId(result.account.id);
      if (account === undefined) return null;
      if (exit !== null && !mayChooseExit?.(exit, account.record))
        return this.#failed(address, 'exit-not-allowed', shown(printable(result.account.username)), username);
      this.#base.events.login('success', result.account.username, result.account.id, address);
      if (result.needsRehash) this.#rehash(account, password);
      return { account, exit, linkHash: result.linkHash };
    }
    const name = result.ok ? printable(result.account.username) : result.username;
    return this.#blocked(verdict, address, shown(name), username);
  }

  /** The user name of the account with this authorized address; null: there is none. */
  authorizedName(client: Endpoint): Uint8Array | null {
    const { accounts, isTrustedProxy } = this.#options;
    this.#base.readMessages();
    // A load balancer that does not name its client is never authorized by its own address.
    if (isTrustedProxy(client)) return null;
    const account = accounts.byAddress(client.address);
    return account === undefined ? null : Buffer.from(account.record.username);
  }

  /** Logs in without a password, from an authorized address. Null: refused. */
  logInByAddress({ address }: Endpoint, username: Uint8Array): WorkerAccount | null {
    const { accounts, guard } = this.#options;
    const name = Buffer.from(username).toString();
    const shown = printable(name);
    const verdict = guard.attemptByAddress(address);
    if (verdict !== 'check') return this.#blocked(verdict, address, shown, username);
    const account = accounts.byUsername(name);
    if (account === undefined) return this.#failed(address, 'unknown-user', shown, username);
    const refusal = this.#refusalOf(account, address);
    if (refusal !== null) return this.#failed(address, refusal, shown, username);
    this.#base.events.login('success', name, account.record.id, address);
    return account;
  }

  /**
   * Reports a client without credentials, whose address is no account's.
   * @param isAsked the refusal requests credentials, as in HTTP: a client that sends none is reported only after many requests
   */
  withoutCredentials({ address }: Endpoint, isAsked: boolean): void {
    const { events, log } = this.#base;
    const { guard } = this.#options;
    const verdict = address === UNIX_CLIENT ? 'counted' : guard.withoutCredentials(address);
    if (verdict === 'counted' && isAsked) return;
    const reason = 'no-credentials';
    if (verdict === 'blocked') this.#withoutCredentials += 1;
    else log.warn({ client: address, reason, user: '' }, 'login failed');
    events.login(reason, '', null, address);
  }

  /** A client has sent credentials after a refusal requested them. */
  gaveCredentials({ address }: Endpoint): void {
    if (address !== UNIX_CLIENT) this.#options.guard.gaveCredentials(address);
  }

  wouldRefuse(account: WorkerAccount, { address }: Endpoint): boolean {
    return this.#refusalOf(account, address) !== null;
  }

  #refusalOf({ record }: WorkerAccount, address: string): AccountRefusal | null {
    return accountRefusal(record, address, this.#options, Date.now());
  }

  reportLimit({ record }: WorkerAccount, { address }: Endpoint, reason: LimitRefusal): void {
    const { events, log } = this.#base;
    events.login(reason, record.username, record.id, address);
    log.info({ account: record.username, client: address, reason }, 'session refused');
  }

  /** Logs how many logins were refused since the last call without their own line. Call it about once a second. */
  tick(): void {
    const { log } = this.#base;
    if (this.#refusedUnchecked > 0)
      log.warn({ logins: this.#refusedUnchecked }, 'logins of blocked addresses refused');
    if (this.#withoutCredentials > 0)
      log.warn({ clients: this.#withoutCredentials }, 'clients without credentials refused');
    this.#refusedUnchecked = 0;
    this.#withoutCredentials = 0;
  }

  #publish(penalties: readonly Penalty[]): void {
    for (const penalty of penalties) this.#base.events.push({ kind: 'penalty', penalty });
  }

  /** Refuses a login of a blocked source. Only the first gets its own log line, because the others could fill the disk. */
  #blocked(verdict: 'block' | 'blocked', client: string, shown: string, username: Uint8Array): null {
    if (verdict === 'block') return this.#failed(client, 'blocked-address', shown, username);
    this.#refusedUnchecked += 1;
    this.#reportFailure(client, 'blocked-address', shown, username);
    return null;
  }

  #failed(client: string, reason: LoginFailure, shown: string, username: Uint8Array): null {
    // fail2ban matches `login failed`: the field that the client controls (`user`) must be the last.
    if (isAccountRefusal(reason)) this.#base.log.info({ client, reason, user: shown }, 'login refused');
    else this.#base.log.warn({ client, reason, user: shown }, 'login failed');
    this.#reportFailure(client, reason, shown, username);
    return null;
  }

  #reportFailure(client: string, reason: LoginFailure, shown: string, username: Uint8Array): void {
    const account = this.#options.accounts.byUsername(Buffer.from(username).toString());
    this.#base.events.login(reason, shown, account?.record.id ?? null, client);
  }

  #rehash(account: WorkerAccount, password: Uint8Array): void {
    const { id, passwordHash: before } = account.record;
    const salted = hashPassword(password);
    this.#options.accounts.rehashed(account, salted);
    this.#base.events.push({ kind: 'rehashed', accountId: id, before, salted });
  }
}
