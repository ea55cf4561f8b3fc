// Whether the request of a logged-in client begins: the guard of its account, the account itself, its limits, and the permit over all nodes.
import { includesAddress } from '../../core/accounts/access/address-list.js';
import type { GuardedUse } from '../../core/accounts/usage/guard.js';
import { type ClientRequest, Reply, type ReplyCode } from '../protocols/socks5.js';
import type { LoggedInClient, WorkerAccount } from '../worker/account.js';
import type { WorkerHost } from '../worker/host.js';
import type { Permit } from '../worker/permits.js';
import type { AuthorizedRequest } from './running-command.js';

type Admitted =
  | ({ readonly ok: true } & AuthorizedRequest)
  /** `waitMs`: after which it would not be one too many; left out: for another reason. */
  | { readonly ok: false; readonly reply: ReplyCode; readonly waitMs?: number };

export class Admission {
  /** Ends what it waits for: the guard, or the permit. */
  #cancel: (() => void) | null = null;

  /**
   * @param exit that the client has chosen at its login; null: that of the account
   * @param done called once, possibly before `start` returns, and not after `cancel`
   */
  constructor(
    private readonly host: WorkerHost,
    private readonly client: LoggedInClient,
    private readonly account: WorkerAccount,
    private readonly exit: string | null,
    private readonly request: ClientRequest,
    private readonly done: (admitted: Admitted) => void,
  ) {}

  /** Returns whether it waits. */
  start(use: GuardedUse): boolean {
    const held = this.host.guards.admit(this.account, use, this.request, this.client.client.address);
    if (held === null) this.#admitted();
    else if (held.isRefused) this.done({ ok: false, reply: Reply.notAllowedByRuleset, waitMs: held.waitMs });
    else {
      const timer = this.host.io.timer(held.waitMs, () => this.#admitted());
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
    const account = this.account;
    const { needsPermit } = account.record;
    const authorized = this.#authorize(!needsPermit, null);
    if (!authorized.ok || !needsPermit) return this.done(authorized);
    const { client } = this.client;
    const request = this.host.permits.acquire(account, client, (answer) => {
      this.#cancel = null;
      if (answer.ok) return this.#permitted(answer.permit);
      this.host.logins.reportLimit(account, client, answer.reason);
      this.done({ ok: false, reply: Reply.notAllowedByRuleset });
    });
    this.#cancel = () => request.cancel();
  }

  #permitted(permit: Permit): void {
    // The account may have changed meanwhile.
    this.done(this.#authorize(true, permit));
    permit.releaseUnused();
  }

  /** The request with all that a session of the account needs, never copied by spread; or the reply that refuses it. Reports why. */
  #authorize(isLast: boolean, permit: Permit | null): Admitted {
    const { accounts, egressOf, exits, log, logins } = this.host;
    const { client, isByAddress, linkHash } = this.client;
    const account = this.account;
    const { record } = account;
    // The account may have been changed between its login and its request.
    const isKnown = accounts.byId(record.id) === account;
    const isRevoked = linkHash !== null && linkHash !== record.link?.hash;
    if (!isKnown || isRevoked || logins.wouldRefuse(account, client)) return refusal(Reply.generalFailure);
    if (isByAddress && !includesAddress(record.authorizedAddresses, client.address))
      return refusal(Reply.notAllowedByRuleset);
    const limit = accounts.refusal(account, client.address);
    if (limit !== null) {
      logins.reportLimit(account, client, limit);
      return refusal(Reply.notAllowedByRuleset);
    }
    const egress = egressOf(record.limits.egressClass);
    const exit = exits.use(this.exit ?? record.exit, record.id, isLast);
    if (egress !== null && exit !== undefined)
      return { ok: true, account, egress, exit, permit, request: this.request };
    const reason = egress === null ? 'unknown-egress-class' : 'unknown-exit';
    log.info({ account: record.username, client: client.address, reason }, 'session refused');
    return refusal(Reply.notAllowedByRuleset);
  }
}

const refusal = (reply: ReplyCode): Admitted => ({ ok: false, reply });
