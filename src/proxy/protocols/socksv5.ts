// The adapter for socksv5 0.0.6, and the only file that imports it. It uses the package's parser for the greeting and the
// request, and nothing else, because (each point has a test):
//  - its login handler shares one user and password among all connections, and fails on Node >= 23: ours is in socks5-handshake.ts
//  - it prints IPv6 addresses without zero padding: the raw bytes of DST.ADDR are kept here instead of its text
//  - it refuses with 2 bytes, reports success before dialling, and knows only CONNECT: replies are ours
//  - it loses bytes that follow the credentials, and its errors repeat until it is stopped: bytes are handed over here
//    one message at a time, what follows is kept in `rest`, and after an error nothing is fed any more
import { createRequire } from 'node:module';

/** The part of `socksv5/lib/server.parser` that is used here, and the members of a stream that it uses. */
interface RawParser {
  authed: boolean;
  _cmd: 0 | 'connect' | 'bind' | 'udp';
  _atyp: number;
  readonly _stream: ParserStream;
  _onData(chunk: Buffer): void;
  start(): void;
}

interface ParserStream {
  on(): void;
  removeListener(): void;
  resume(): void;
  pause(): void;
  unshift(rest: Buffer): void;
}

const RawParser = createRequire(import.meta.url)('socksv5/lib/server.parser') as new (
  stream: ParserStream,
) => RawParser;

export type Command = 'connect' | 'bind' | 'udp';

/**
 * What the client sent, RFC 1928 §3 and §4. `error` names the octet that cannot be served;
 * an empty list of methods counts as a wrong version, since both have the same answer.
 */
export type SocksMessage =
  | { readonly kind: 'methods'; readonly methods: Uint8Array }
  | {
      readonly kind: 'request';
      readonly command: Command;
      /** ATYP; see `AddressType` in socks5.ts. */
      readonly addressType: number;
      /** Raw DST.ADDR: 4 bytes, 16 bytes, or the octets of a domain name. */
      readonly address: Uint8Array;
      readonly port: number;
    }
  | { readonly kind: 'error'; readonly octet: 'version' | 'command' | 'address-type' };

/** Reads a greeting, then (after `expectRequest`) a request; the boundaries of chunks do not matter. */
export class SocksParser implements ParserStream {
  /** Bytes after the message, for the next parser. */
  rest: Buffer | null = null;
  #message: SocksMessage | null = null;
  #destination: Uint8Array | undefined;
  #stopped = false;
  readonly #parser: RawParser;

  constructor() {
    this.#parser = new AdaptedParser(this);
  }

  /** Adds bytes; returns the message when it is complete, else null. Bytes after the message are in `rest`. */
  feed(chunk: Buffer): SocksMessage | null {
    this.rest = null;
    this.#message = null;
    this.#parser._onData(chunk);
    return this.#message;
  }

  /** The login has succeeded: a request follows. */
  expectRequest(): void {
    this.#stopped = false;
    this.#parser.authed = true;
    this.#parser.start();
  }

  // ── Called by the raw parser ─────────────────────────────────────────────────────────────────────────────────────

  took(event: string, value: unknown): void {
    if (event === 'methods') {
      this.#message = { kind: 'methods', methods: value as Uint8Array };
      return;
    }
    if (event === 'request') {
      const { cmd, dstPort } = value as { cmd: Command; dstPort: number };
      this.#message = {
        kind: 'request',
        command: cmd,
        addressType: this.#parser._atyp,
        address: this.#destination ?? new Uint8Array(0),
        port: dstPort,
      };
      return;
    }
    this.#message = { kind: 'error', octet: this.#failedOctet() };
  }

  /** The errors of the raw parser differ only in their text; its state identifies them by value. */
  #failedOctet(): 'version' | 'command' | 'address-type' {
    // It stops itself before it reports a command or an address type, and not before a version or an empty list.
    if (this.#stopped) return this.#parser._cmd === 0 ? 'command' : 'address-type';
    return 'version';
  }

  set destination(value: unknown) {
    // The raw parser first collects DST.ADDR into a Buffer here and then overwrites it by a text: keep the bytes.
    if (value instanceof Uint8Array) this.#destination = value;
  }

  get destination(): Uint8Array | undefined {
    return this.#destination;
  }

  on(): void {}
  removeListener(): void {}
  resume(): void {}

  pause(): void {
    this.#stopped = true;
  }

  unshift(rest: Buffer): void {
    this.rest = rest;
  }
}

/** The raw parser with its events as one plain call, and with DST.ADDR kept as bytes. */
class AdaptedParser extends RawParser {
  declare readonly _stream: SocksParser;

  emit(event: string, value: unknown): boolean {
    this._stream.took(event, value);
    return true;
  }

  get _dstaddr(): unknown {
    return this._stream.destination;
  }

  set _dstaddr(value: unknown) {
    this._stream.destination = value;
  }
}
