// The server's side of SOCKS4 ("SOCKS: A protocol for TCP proxy across firewalls", Ying-Da Lee) and SOCKS4A: one request, one
// reply (two for BIND). There is no password: the client's address determines the account, and the user id is ignored.
// Parses bytes and returns steps; uses no socket and no clock.
//
//  +----+----+----+----+----+----+----+----+----+----+....+----+      +----+....+----+
//  | VN | CD | DSTPORT |      DSTIP        | USERID       |NULL|      | name    |NULL|  SOCKS4A: DSTIP is 0.0.0.x, x not 0
//  +----+----+----+----+----+----+----+----+----+----+....+----+      +----+....+----+
//    1    1      2              4           variable       1           variable    1
import { parseIp, unmap } from '../../core/addresses/ip.js';
import { type ClientProtocol, type HandshakeStep, Unread } from './client-protocol.js';
import { AddressType, type ClientRequest, Reply, type ReplyCode } from './socks5.js';

export const SOCKS4_VERSION = 0x04;
const REPLY_VERSION = 0x00;
const CONNECT = 0x01;
const BIND = 0x02;
const DSTPORT_AT = 2;
const DSTIP_AT = 4;
const USERID_AT = 8;
/** Maximum length of the user id, and of the name: as in SOCKS5. */
const MAX_TEXT_BYTES = 255;

/** CD of a reply. */
const Socks4Reply = {
  granted: 90,
  rejected: 91,
  /** "The client program and identd report different user-ids". Here: the client's address is not authorized. */
  notAuthorized: 93,
} as const;

const MORE: HandshakeStep = { kind: 'more' };
const REJECTED: HandshakeStep = { kind: 'refuse', bytes: replyFrame(Socks4Reply.rejected) };

export class Socks4Handshake extends Unread implements ClientProtocol {
  readonly name = 'socks4';
  readonly loginFailed = replyFrame(Socks4Reply.notAuthorized);
  readonly asksForCredentials = false;
  #request: ClientRequest | null = null;
  #isAccepted = false;

  next(): HandshakeStep {
    if (this.#request !== null) {
      return this.#isAccepted ? { kind: 'request', request: this.#request, rest: this.unread } : MORE;
    }
    const bytes = this.unread;
    return bytes === null || bytes.length === 0 ? MORE : this.#read(bytes);
  }

  accept(): null {
    this.#isAccepted = true;
    return null;
  }

  reply(code: ReplyCode, boundAddress?: string, boundPort?: number): Uint8Array {
    if (code !== Reply.succeeded) return replyFrame(Socks4Reply.rejected);
    return replyFrame(Socks4Reply.granted, boundAddress, boundPort);
  }

  #read(bytes: Buffer): HandshakeStep {
    const [version, command] = bytes;
    if (version !== SOCKS4_VERSION) return REJECTED;
    if (command !== undefined && command !== CONNECT && command !== BIND) return REJECTED;
    const userEnd = endOfText(bytes, USERID_AT);
    if (userEnd === 'too-long') return REJECTED;
    if (userEnd === 'more') return MORE;
    const ip = bytes.subarray(DSTIP_AT, USERID_AT);
    let end = userEnd;
    let address: Uint8Array = ip;
    const isNamed = ip[0] === 0 && ip[1] === 0 && ip[2] === 0 && ip[3] !== 0;
    if (isNamed) {
      const nameEnd = endOfText(bytes, userEnd + 1);
      if (nameEnd === 'too-long') return REJECTED;
      if (nameEnd === 'more') return MORE;
      address = bytes.subarray(userEnd + 1, nameEnd);
      end = nameEnd;
    }
    this.#request = {
      command: command === BIND ? 'bind' : 'connect',
      addressType: isNamed ? AddressType.domain : AddressType.ipv4,
      address,
      port: bytes.readUInt16BE(DSTPORT_AT),
    };
    this.unread = bytes.length > end + 1 ? bytes.subarray(end + 1) : null;
    return { kind: 'address-login' };
  }
}

function endOfText(bytes: Buffer, start: number): number | 'more' | 'too-long' {
  const end = bytes.indexOf(0, start);
  if (bytes.length <= start || end === -1) return bytes.length - start > MAX_TEXT_BYTES ? 'too-long' : 'more';
  return end - start > MAX_TEXT_BYTES ? 'too-long' : end;
}

/** 8 bytes: VN 0, CD, DSTPORT, DSTIP. An address that is not IPv4 is sent as 0.0.0.0: "the address of the server". */
function replyFrame(code: number, boundAddress?: string, boundPort = 0): Buffer {
  const parsed = boundAddress === undefined ? null : parseIp(boundAddress);
  const address = parsed === null ? null : unmap(parsed);
  const frame = Buffer.alloc(8);
  frame[0] = REPLY_VERSION;
  frame[1] = code;
  frame.writeUInt16BE(boundPort, DSTPORT_AT);
  if (address?.length === 4) frame.set(address, DSTIP_AT);
  return frame;
}
