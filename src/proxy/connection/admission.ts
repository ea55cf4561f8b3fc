// Whether the request of a logged-in client begins: the guard of its account, the account itself, its limits, and the permit over all nodes.
import { includesAddress } from '../../core/accounts/access/address-list.js';
import type { GuardedUse } from '../../core/accounts/usage/guard.js';
import type { Endpoint } from '../../core/ip.js';
import { type ClientRequest, Reply, type ReplyCode } from '../protocols/socks5.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerHost } from '../worker/host.js';
import type { Permit } from '../worker/permits.js';
import type { AuthorizedRequest } from './running-command.js';

type Authorized = Omit<AuthorizedRequest, 'request'>;

/** A logged-in client. */
interface AdmittedClient {
  readonly client: Endpoint;
  readonly isByAddress: boolean;
  readonly linkHash: string | null;
}

type Admitted =
  | ({ readonly ok: true } & Authorized)
  /** `waitMs`: after which it would not be one too many; left out: for another reason. */
  | { readonly ok: false; readonly reply: ReplyCode; readonly waitMs?: number };

export class Admission {
  readonly #host: WorkerHost;
  readonly #client: AdmittedClient;
  readonly #account: WorkerAccount;
  readonly #exit: string | null;
  readonly #done: (admitted: Admitted) => void;
  /** Ends what it waits for: the guard, or the permit. */
  #cancel: (() => void) | null = null;

  /**
   * @param exit that the client has chosen at its login; null: that of the account
   * @param done called once, possibly before `start` returns, and not after `cancel`
   */
  constructor(
    host: WorkerHost,
    client: AdmittedClient,
    account: WorkerAccount,
    exit: string | null,
    done: (admitted: Admitted) => void,
  ) {
    this.#host = host;
    this.#client = client;
    this.#account = account;
    this.#exit = exit;
    this.#done = done;
  }

  /** Returns whether it waits. */
  start(use: GuardedUse, request: ClientRequest): boolean {
    const held = this.#host.guards.admit(this.#account, use, request, this.#client.client.address);
    if (held === null) this.#admitted();
    else if (held.isRefused) this.#done({ ok: false, reply: Reply.notAllowedByRuleset, waitMs: held.waitMs });
    else {
      const timer = this.#host.io.timer(held.waitMs, () => this.#admitted());
      this.#cancel = () => timer.clear();
    }
    return this.#cancel !== null;
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #admitted(): void {
    this.#cancel = null;
    const account = this.#account;
    const { needsPermit } = account.record;
    const ways = this.#authorize(!needsPermit);
    if (typeof ways === 'number') return this.#done({ ok: false, reply: ways });
    if (!needsPermit) return this.#done({ ok: true, account, ...ways, permit: null });
    const { client } = this.#client;
    const request = this.#host.permits.acquire(account, client, (answer) => {
      this.#cancel = null;
      if (answer.ok) return this.#permitted(answer.permit);
      this.#host.logins.reportLimit(account, client, answer.reason);
      this.#done({ ok: false, reply: Reply.notAllowedByRuleset });
    });
    this.#cancel = () => request.cancel();
  }

  #permitted(permit: Permit): void {
    // The account may have changed meanwhile.
    const ways = this.#authorize(true);
    if (typeof ways === 'number') this.#done({ ok: false, reply: ways });
    else this.#done({ ok: true, account: this.#account, ...ways, permit });
    permit.releaseUnused();
  }

  /** The egress policy and the exit for a session of the account, or the reply that refuses the session. Reports why. */
  #authorize(isLast: boolean): Pick<Authorized, 'egress' | 'exit'> | ReplyCode {
    const { accounts, egressOf, exits, log, logins } = this.#host;
    const { client, isByAddress, linkHash } = this.#client;
    const account = this.#account;
    const { record } = account;
    // The account may have been changed between its login and its request.
    const isKnown = accounts.byId(record.id) === account;
    const isRevoked = linkHash !== null && linkHash !== record.link?.hash;
    if (!isKnown || isRevoked || logins.wouldRefuse(account, client)) return Reply.generalFailure;
    if (isByAddress && !includesAddress(record.authorizedAddresses, client.address))
      return Reply.notAllowedByRuleset;
    const limit = accounts.refusal(account, client.address);
    if (limit !== null) {
      logins.reportLimit(account, client, limit);
      return Reply.notAllowedByRuleset;
    }
    const egress = egressOf(record.limits.egressClass);
    const exit = exits.use(this.#exit ?? record.exit, record.id, isLast);
    if (egress !== null && exit !== undefined) return { egress, exit };
    const reason = egress === null ? 'unknown-egress-class' : 'unknown-exit';
    log.info({ account: record.username, client: client.address, reason }, 'session refused');
    return Reply.notAllowedByRuleset;
  }
}
