// A connection from its first byte to its request: methods (RFC 1928 §3), login (RFC 1929), request (RFC 1928 §4).
import type { Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import type { LogIn, LoginResult } from '../core/accounts/login.js';
import { LoginParser } from './login.js';
import {
  LOGIN_FAILED,
  LOGIN_SUCCEEDED,
  METHOD_SELECTED,
  METHOD_USERNAME_PASSWORD,
  METHODS_REFUSED,
  Reply,
  replyFrame,
} from './protocol.js';
import { refuse } from './refuse.js';
import { type Command, SocksParser } from './socksv5.js';

/** What a logged-in client asks for, RFC 1928 §4. */
export interface SocksRequest {
  readonly command: Command;
  /** ATYP, see protocol.ts. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}

export interface HandshakeOptions {
  readonly logIn: (client: Socket, ...credentials: Parameters<LogIn>) => LoginResult;
  /** From the first byte to the complete request, in ms; then the connection is closed. */
  readonly timeoutMs: number;
  /** Notes the login; returns the account as it is from now on. */
  readonly onLoggedIn: (account: Account, needsRehash: boolean, password: Uint8Array) => Account;
  /** The client is paused, carries no `data` listener, and what it sent early has been put back into it. */
  readonly onRequest: (client: Socket, account: Account, request: SocksRequest) => void;
}

const REFUSAL_BY_OCTET = {
  version: replyFrame(Reply.generalFailure),
  command: replyFrame(Reply.commandNotSupported),
  'address-type': replyFrame(Reply.addressTypeNotSupported),
} as const;

/** Leads one client through its handshake. Every way it can fail ends in `refuse` or in a destroyed socket. */
export function startHandshake(client: Socket, options: HandshakeOptions): void {
  new Handshake(client, options);
}

class Handshake {
  readonly #client: Socket;
  readonly #options: HandshakeOptions;
  readonly #socks = new SocksParser();
  readonly #login = new LoginParser();
  readonly #timer: NodeJS.Timeout;
  #stage: 'methods' | 'login' | 'request' | 'done' = 'methods';
  #account: Account | null = null;

  constructor(client: Socket, options: HandshakeOptions) {
    this.#client = client;
    this.#options = options;
    this.#timer = setTimeout(() => client.destroy(), options.timeoutMs);
    client.on('data', this.#onData);
    client.once('end', this.#onEnd);
    client.once('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer): void => {
    let bytes: Buffer | null = chunk;
    while (bytes !== null && bytes.length > 0) {
      if (this.#stage === 'methods') bytes = this.#readMethods(bytes);
      else if (this.#stage === 'login') bytes = this.#readLogin(bytes);
      else if (this.#stage === 'request') bytes = this.#readRequest(bytes);
      else return;
    }
  };

  /** A client that stops sending before its request is complete wants nothing from us. */
  readonly #onEnd = (): void => {
    this.#client.destroy();
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
  };

  #readMethods(bytes: Buffer): Buffer | null {
    const message = this.#socks.feed(bytes);
    if (message === null) return null;
    if (message.kind !== 'methods' || !message.methods.includes(METHOD_USERNAME_PASSWORD)) {
      return this.#refuse(METHODS_REFUSED);
    }
    this.#client.write(METHOD_SELECTED);
    this.#stage = 'login';
    return this.#socks.rest;
  }

  #readLogin(bytes: Buffer): Buffer | null {
    const message = this.#login.feed(bytes);
    if (message === null) return null;
    if (message.kind === 'error') return this.#refuse(LOGIN_FAILED);

    const result = this.#options.logIn(this.#client, message.username, message.password);
    if (!result.ok) return this.#refuse(LOGIN_FAILED);
    this.#account = this.#options.onLoggedIn(result.account, result.needsRehash, message.password);
    this.#client.write(LOGIN_SUCCEEDED);
    this.#stage = 'request';
    this.#socks.expectRequest();
    return this.#login.rest;
  }

  #readRequest(bytes: Buffer): Buffer | null {
    const message = this.#socks.feed(bytes);
    if (message === null) return null;
    if (message.kind === 'error') return this.#refuse(REFUSAL_BY_OCTET[message.octet]);
    if (message.kind !== 'request' || this.#account === null) return this.#refuse(REFUSAL_BY_OCTET.version);

    this.#release();
    this.#client.pause();
    if (this.#socks.rest !== null) this.#client.unshift(this.#socks.rest);
    this.#options.onRequest(this.#client, this.#account, message);
    return null;
  }

  #refuse(frame: Uint8Array): null {
    this.#release();
    refuse(this.#client, frame);
    return null;
  }

  /** Takes every trace of the handshake off the socket. */
  #release(): void {
    this.#stage = 'done';
    clearTimeout(this.#timer);
    this.#client.off('data', this.#onData);
    this.#client.off('end', this.#onEnd);
    this.#client.off('close', this.#onClose);
  }
}
