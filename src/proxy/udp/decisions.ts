// Limits the decisions per second of an account: new destinations, unknown senders, fragments. Datagrams with a route, a
// source or a recent verdict need no decision. A flood to or from an account therefore costs at most this many decisions.
import { type Endpoint, normalizeAddress, parseIp, unmap } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import { getOrAdd } from '../../core/maps.js';
import type { Io } from '../io/io.js';
import { writeDatagramHeader } from '../protocols/datagram-header.js';
import type { WorkerAccount } from '../worker/account.js';

/** The burst after a pause, as part of a second. */
const BURST_S = 0.25;

export class Decisions {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #filledAt: number;

  constructor(
    perSecond: number,
    private readonly io: Pick<Io, 'now'>,
  ) {
    this.#perMs = perSecond / 1000;
    this.#burst = Math.max(1, perSecond * BURST_S);
    this.#left = this.#burst;
    this.#filledAt = io.now();
  }

  /** Whether another decision is allowed now; if not, drop the datagram. */
  tryAcquire(): boolean {
    const now = this.io.now();
    if (now > this.#filledAt) {
      this.#left = Math.min(this.#burst, this.#left + (now - this.#filledAt) * this.#perMs);
      this.#filledAt = now;
    }
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** The decisions of one account, over all its associations. Those for its clients and for others are separate. */
export interface AccountDecisions {
  /** About datagrams of the account's clients. */
  readonly ofClients: Decisions;
  /** About datagrams of others. */
  readonly ofOthers: Decisions;
}

const byAccount = new WeakMap<WorkerAccount, AccountDecisions>();

export function decisionsOf(
  account: WorkerAccount,
  perSecond: number,
  io: Pick<Io, 'now'>,
): AccountDecisions {
  const unknown = () => ({ ofClients: new Decisions(perSecond, io), ofOthers: new Decisions(perSecond, io) });
  return getOrAdd(byAccount, account, unknown);
}

/** How long the verdict on the last sender is valid, in ms. */
const JUDGED_FOR_MS = 1_000;

interface UnsolicitedOptions {
  readonly io: Pick<Io, 'now'>;
  readonly egress: EgressPolicy;
  readonly fullCone: boolean;
  readonly decisions: Decisions;
  /** Whether the client has sent to an address, to any port. */
  readonly hasSentTo: (address: string) => boolean;
}

/** Decides whether datagrams from hosts that the client has not sent to reach it (RFC 4787 §5). */
export class UnsolicitedSources {
  /** The last permitted sender, and its header. */
  #last: { readonly from: Endpoint; readonly header: Buffer; readonly at: number } | null = null;

  constructor(private readonly options: UnsolicitedOptions) {}

  /** The header for data from `from`; else the reason why it is dropped. */
  headerFor(from: Endpoint): Buffer | 'over-share' | 'unsolicited' {
    const { io, egress, fullCone, decisions, hasSentTo } = this.options;
    const at = io.now();
    const last = this.#last;
    const isSame = last?.from.port === from.port && last.from.address === from.address;
    if (last && isSame && at - last.at < JUDGED_FOR_MS) return last.header;

    if (!decisions.tryAcquire()) return 'over-share';
    const ip = parseIp(from.address);
    if (ip === null) return 'unsolicited';
    if (!fullCone && !hasSentTo(normalizeAddress(from.address))) return 'unsolicited';
    const verdict = egress.judge({ host: null, ip: unmap(ip), port: from.port, protocol: 'udp' });
    if (!verdict.ok) return 'unsolicited';
    const header = writeDatagramHeader(ip, from.port);
    this.#last = { from: { address: from.address, port: from.port }, header, at };
    return header;
  }
}

/** Maximum size of the queued data, in bytes; large datagrams reach it before the maximum number. */
const MAX_BYTES = 128 * 1024;

/** Limits the queued datagrams of one association, by number and by size. */
export class Backlog {
  #datagrams = 0;
  #bytes = 0;

  constructor(private readonly maxDatagrams: number) {}

  /** Counts one more datagram of `bytes` until `release`; false when there is no room for it. */
  tryAcquire(bytes: number): boolean {
    if (this.#datagrams >= this.maxDatagrams || this.#bytes + bytes > MAX_BYTES) return false;
    this.#datagrams += 1;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#datagrams -= 1;
    this.#bytes -= bytes;
  }
}
