// Decides whether datagrams from hosts that the client has not sent to reach it (RFC 4787 §5).
import type { EgressPolicy } from '../../core/egress/egress.js';
import { type Endpoint, normalizeAddress, parseIp, unmap } from '../../core/ip.js';
import type { Io } from '../io/io.js';
import { writeDatagramHeader } from '../protocols/datagram-header.js';
import type { Decisions } from './decisions.js';

/** How long the verdict on the last sender is valid, in ms. */
const JUDGED_FOR_MS = 1_000;

export interface UnsolicitedOptions {
  readonly io: Pick<Io, 'now'>;
  readonly egress: EgressPolicy;
  readonly fullCone: boolean;
  readonly decisions: Decisions;
  /** Whether the client has sent to an address, to any port. */
  readonly hasSentTo: (address: string) => boolean;
}

export class UnsolicitedSources {
  readonly #options: UnsolicitedOptions;
  /** The last permitted sender, and its header. */
  #last: { readonly from: Endpoint; readonly header: Buffer; readonly at: number } | null = null;

  constructor(options: UnsolicitedOptions) {
    this.#options = options;
  }

  /** The header for data from `from`; else the reason why it is dropped. */
  headerFor(from: Endpoint): Buffer | 'over-share' | 'unsolicited' {
    const { io, egress, fullCone, decisions, hasSentTo } = this.#options;
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
