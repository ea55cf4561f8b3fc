// Recognises BitTorrent by what its programs send in the clear: the handshake (BEP 3), over uTP too (BEP 29), messages of the DHT
// (BEP 5), and the request to a UDP tracker (BEP 15). Encrypted handshakes are not recognised.

/** Receives the first client bytes of a flow until it returns false. 'denied': they must not go on, and nor must any after them. */
export type FlowInspector = (chunk: Uint8Array) => boolean | 'denied';

const HANDSHAKE = Buffer.from('\x13BitTorrent protocol', 'latin1');
/** `connection_id` and `action` of the request to a tracker; a transaction id follows. */
const TRACKER_REQUEST = Buffer.from('000004172710198000000000', 'hex');
const TRACKER_REQUEST_BYTES = 16;
const UTP_HEADER_BYTES = 20;
/** Number of datagrams to a destination that are looked at: uTP repeats its first one before the handshake, which is its second. */
const DATAGRAMS = 8;

/** Inspects a stream. @param next also gets what is not denied; `onFound` is called once */
export function inspectStream(onFound: () => void, next: FlowInspector | null): FlowInspector {
  let matched = 0;
  let isAlike = true;
  let rest = next;
  return (chunk) => {
    if (isAlike && matched < HANDSHAKE.length) {
      const part = chunk.subarray(0, HANDSHAKE.length - matched);
      isAlike = HANDSHAKE.subarray(matched, matched + part.length).equals(part);
      matched += part.length;
      if (isAlike && matched === HANDSHAKE.length) onFound();
    }
    if (isAlike && matched === HANDSHAKE.length) return 'denied';
    if (rest?.(chunk) === false) rest = null;
    return isAlike || rest !== null;
  };
}

/** Inspects the datagrams to one destination. For the arguments see `inspectStream`. */
export function inspectDatagrams(onFound: () => void, next: FlowInspector | null): FlowInspector {
  let left = DATAGRAMS;
  let rest = next;
  return (datagram) => {
    if (left > 0 && isBittorrent(Buffer.from(datagram.buffer, datagram.byteOffset, datagram.length))) {
      onFound();
      return 'denied';
    }
    left -= 1;
    if (rest?.(datagram) === false) rest = null;
    return left > 0 || rest !== null;
  };
}

function isBittorrent(datagram: Buffer): boolean {
  switch (datagram[0]) {
    case 0x00:
      return (
        datagram.length === TRACKER_REQUEST_BYTES &&
        datagram.subarray(0, TRACKER_REQUEST.length).equals(TRACKER_REQUEST)
      );
    case 0x64: // 'd': a dictionary; its last key says whether it is a query or an answer
      return (
        /^1:y1:[qr]e$/.test(datagram.toString('latin1', datagram.length - 7)) && datagram.includes('2:id20:')
      );
    default:
      return startsHandshake(datagram);
  }
}

/** Whether the payload of a uTP packet begins with the handshake. */
function startsHandshake(packet: Buffer): boolean {
  // ST_DATA or ST_SYN, version 1.
  if (packet[0] !== 0x01 && packet[0] !== 0x41) return false;
  let at = UTP_HEADER_BYTES;
  // Each extension begins with the type of the next one and its own length.
  for (let extension = packet[1]; extension && at + 1 < packet.length; ) {
    extension = packet[at];
    at += 2 + (packet[at + 1] ?? 0);
  }
  return packet.subarray(at, at + HANDSHAKE.length).equals(HANDSHAKE);
}
