// Hosts that a client's datagrams never led to: whether what they send reaches it (RFC 4787 §5).
import { normalizeAddress, parseIp, unmap } from '../../core/ip.js';
import { writeDatagramHeader } from '../../core/sessions/datagram-header.js';
import type { Endpoint } from '../../core/sessions/datagram-relay.js';
import type { SocksContext } from '../context.js';

/** How long the verdict on the last of them holds, in ms. */
const JUDGED_FOR_MS = 1_000;

export class Strangers {
  readonly #context: Pick<SocksContext, 'egress' | 'udp' | 'now'>;
  /** Where the last datagram came from that may reach the client, and its header. */
  #last: { readonly from: Endpoint; readonly header: Buffer; readonly at: number } | null = null;

  constructor(context: Pick<SocksContext, 'egress' | 'udp' | 'now'>) {
    this.#context = context;
  }

  /**
   * The header for data from `from`; null when it may not reach the client.
   * @param hasSentTo whether the client has sent to an address, on whatever port
   */
  headerFor(from: Endpoint, hasSentTo: (address: string) => boolean): Buffer | null {
    const { egress, udp, now } = this.#context;
    const at = now();
    const last = this.#last;
    const isSame = last?.from.port === from.port && last.from.address === from.address;
    if (last && isSame && Math.abs(at - last.at) < JUDGED_FOR_MS) return last.header;

    const ip = parseIp(from.address);
    if (ip === null) return null;
    if (!udp.fullCone && !hasSentTo(normalizeAddress(from.address))) return null;
    if (!egress.judge({ host: null, ip: unmap(ip), port: from.port, protocol: 'udp' }).ok) return null;
    const header = writeDatagramHeader(ip, from.port);
    this.#last = { from: { address: from.address, port: from.port }, header, at };
    return header;
  }
}
