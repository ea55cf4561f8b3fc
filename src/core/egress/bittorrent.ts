// Recognises BitTorrent by what its programs send in the clear: the handshake (BEP 3), over uTP too (BEP 29), messages of the DHT
// (BEP 5), and the request to a UDP tracker (BEP 15). Encrypted handshakes are not recognised.

/** Receives the first client bytes of a flow until it returns false. 'denied': they must not go on, and nor must any after them. */
export type FlowInspector = (chunk: Uint8Array) => boolean | 'denied';

const HANDSHAKE = Buffer.from('\x13BitTorrent protocol', 'latin1');
/** In hex, the fields `connection_id` and `action` of the request to a tracker; a transaction id follows. */
const TRACKER_REQUEST = '000004172710198000000000';
const TRACKER_REQUEST_BYTES = 16;
const UTP_HEADER_BYTES = 20;
/** Number of datagrams to a destination that are looked at: uTP repeats its first one before the handshake, which is its second. */
const DATAGRAMS = 8;

/** Inspects a stream. @param next gets what is not denied */
export function inspectStream(onFound: () => void, next: FlowInspector | null): FlowInspector {
  let matched = 0;
  return before(next, onFound, (chunk) => {
    const part = chunk.subarray(0, HANDSHAKE.length - matched);
    if (!HANDSHAKE.subarray(matched, matched + part.length).equals(part)) return false;
    matched += part.length;
    return matched < HANDSHAKE.length || 'denied';
  });
}

/** Inspects the datagrams to one destination. @param next gets what is not denied */
export function inspectDatagrams(onFound: () => void, next: FlowInspector | null): FlowInspector {
  let left = DATAGRAMS;
  return before(next, onFound, (datagram) => {
    left -= 1;
    return isBittorrent(Buffer.from(datagram.buffer, datagram.byteOffset, datagram.length))
      ? 'denied'
      : left > 0;
  });
}

function before(next: FlowInspector | null, onFound: () => void, inspect: FlowInspector): FlowInspector {
  let verdict: ReturnType<FlowInspector> = true;
  let rest = next;
  return (chunk) => {
    if (verdict === true) {
      verdict = inspect(chunk);
      if (verdict === 'denied') onFound();
    }
    if (verdict === 'denied') return verdict;
    if (rest?.(chunk) === false) rest = null;
    return verdict || rest !== null;
  };
}

function isBittorrent(datagram: Buffer): boolean {
  if (datagram.length === TRACKER_REQUEST_BYTES && datagram.toString('hex', 0, 12) === TRACKER_REQUEST)
    return true;
  // A dictionary, whose last key says whether it is a query or an answer.
  if (datagram[0] === 0x64)
    return (
      /^1:y1:[qr]e$/.test(datagram.toString('latin1', datagram.length - 7)) && datagram.includes('2:id20:')
    );
  // uTP: ST_DATA or ST_SYN, version 1.
  if (datagram[0] !== 0x01 && datagram[0] !== 0x41) return false;
  let at = UTP_HEADER_BYTES;
  // Each extension begins with the type of the next one and its own length.
  for (let extension = datagram[1]; extension && at + 1 < datagram.length; ) {
    extension = datagram[at];
    at += 2 + (datagram[at + 1] ?? 0);
  }
  return datagram.subarray(at, at + HANDSHAKE.length).equals(HANDSHAKE);
}
