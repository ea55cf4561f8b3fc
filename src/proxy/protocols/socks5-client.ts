// The client side of SOCKS5, for upstream proxies: RFC 1928 §3, §4, §6 and RFC 1929. Parses bytes and returns steps.
import { formatIp, parseIp, unmap } from '../../core/addresses/ip.js';
import { type ClientStep, failed, GREETED, type UpstreamExchange } from './client-step.js';
import {
  AddressType,
  LOGIN_VERSION,
  METHOD_NO_AUTHENTICATION,
  METHOD_USERNAME_PASSWORD,
  Reply,
  type ReplyCode,
  VERSION,
  withAddress,
} from './socks5.js';

/** CMD, RFC 1928 §4. */
const COMMANDS = { connect: 0x01, associate: 0x03 } as const;
/** `greet`: nothing after the login. */
export type ClientCommand = keyof typeof COMMANDS | 'greet';

export interface ClientOptions {
  readonly command: ClientCommand;
  /** A name that the upstream proxy resolves, or an address. */
  readonly destination: { readonly host: string; readonly port: number };
  /** RFC 1929 credentials; null: none. */
  readonly login: { readonly username: string; readonly password: string } | null;
}

const MORE: ClientStep = { kind: 'more' };

export class Socks5Client implements UpstreamExchange {
  #stage: 'begin' | 'method' | 'login' | 'reply' = 'begin';
  #unread: Buffer = Buffer.alloc(0);

  constructor(private readonly options: ClientOptions) {}

  /** Adds bytes; the boundaries of chunks do not matter. */
  feed(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
  }

  /** The next step; the first needs no bytes. After 'done' and 'failed' the handshake is over. */
  next(): ClientStep {
    switch (this.#stage) {
      case 'begin':
        this.#stage = 'method';
        return { kind: 'send', bytes: methodsFrame(this.options.login !== null) };
      case 'method':
        return this.#readMethod();
      case 'login':
        return this.#readLogin();
      case 'reply':
        return this.#readReply();
    }
  }

  #readMethod(): ClientStep {
    if (this.#unread.length < 2) return MORE;
    const [version, method] = this.#unread;
    this.#unread = this.#unread.subarray(2);
    if (version !== VERSION) return failed('upstream-protocol');
    if (method === METHOD_NO_AUTHENTICATION) return this.#request();
    if (method !== METHOD_USERNAME_PASSWORD || this.options.login === null) return failed('upstream-method');
    this.#stage = 'login';
    return { kind: 'send', bytes: loginFrame(this.options.login) };
  }

  #readLogin(): ClientStep {
    if (this.#unread.length < 2) return MORE;
    const [, status] = this.#unread;
    this.#unread = this.#unread.subarray(2);
    return status === 0 ? this.#request() : failed('upstream-login');
  }

  #request(): ClientStep {
    const { command, destination } = this.options;
    if (command === 'greet') return GREETED;
    this.#stage = 'reply';
    const fields = destinationFields(destination.host, destination.port);
    return { kind: 'send', bytes: Buffer.concat([Buffer.from([VERSION, COMMANDS[command], 0]), fields]) };
  }

  #readReply(): ClientStep {
    const reply = parseReply(this.#unread);
    if (reply === 'more') return MORE;
    if (reply === 'malformed') return failed('upstream-protocol');
    if (reply.code !== Reply.succeeded) {
      return { kind: 'failed', reply: reply.code, reason: `upstream-reply-${reply.code}` };
    }
    const rest = this.#unread.length > reply.length ? this.#unread.subarray(reply.length) : null;
    return { kind: 'done', bound: { address: reply.address, port: reply.port }, rest };
  }
}

function methodsFrame(hasLogin: boolean): Buffer {
  const methods = hasLogin
    ? [METHOD_NO_AUTHENTICATION, METHOD_USERNAME_PASSWORD]
    : [METHOD_NO_AUTHENTICATION];
  return Buffer.from([VERSION, methods.length, ...methods]);
}

function loginFrame({ username, password }: { username: string; password: string }): Buffer {
  const usernameBytes = Buffer.from(username);
  const passwordBytes = Buffer.from(password);
  return Buffer.concat([
    Buffer.from([LOGIN_VERSION, usernameBytes.length]),
    usernameBytes,
    Buffer.from([passwordBytes.length]),
    passwordBytes,
  ]);
}

/** ATYP, DST.ADDR and DST.PORT, as in requests and in front of datagrams (RFC 1928 §4, §7). */
export function destinationFields(host: string, port: number): Buffer {
  const ip = parseIp(host);
  if (ip !== null) return withAddress([], ip, port);
  const name = Buffer.from(host, 'latin1');
  return Buffer.from([AddressType.domain, name.length, ...name, port >> 8, port & 0xff]);
}

export interface UpstreamReply {
  readonly code: ReplyCode;
  /** BND.ADDR; 0.0.0.0 when the upstream proxy gives a name. */
  readonly address: string;
  readonly port: number;
  /** Length of the reply, in bytes. */
  readonly length: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(Reply));

/** Reads the reply (RFC 1928 §6) at the start of `bytes`. Many servers send refusals that end after the code. */
export function parseReply(bytes: Buffer): UpstreamReply | 'more' | 'malformed' {
  const [version, code, , addressType, nameLength] = bytes;
  if (version !== undefined && version !== VERSION) return 'malformed';
  if (code === undefined) return 'more';
  if (code !== Reply.succeeded) {
    return {
      code: isReplyCode(code) ? code : Reply.generalFailure,
      address: '0.0.0.0',
      port: 0,
      length: bytes.length,
    };
  }
  if (addressType === undefined) return 'more';
  const isName = addressType === AddressType.domain;
  const isKnown = isName || addressType === AddressType.ipv4 || addressType === AddressType.ipv6;
  if (!isKnown) return 'malformed';
  if (isName && nameLength === undefined) return 'more';
  const addressBytes = isName ? 1 + (nameLength ?? 0) : addressType === AddressType.ipv4 ? 4 : 16;
  const length = 4 + addressBytes + 2;
  if (bytes.length < length) return 'more';
  const address = isName ? '0.0.0.0' : formatIp(unmap(bytes.subarray(4, 4 + addressBytes)));
  return { code: Reply.succeeded, address, port: bytes.readUInt16BE(length - 2), length };
}

function isReplyCode(code: number): code is ReplyCode {
  return KNOWN_CODES.has(code);
}
