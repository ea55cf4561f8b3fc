// Asking a parent SOCKS5 proxy: the client's side of RFC 1928 §3, §4, §6 and RFC 1929.
import type { Socket } from 'node:net';
import type { EgressPolicy } from '../core/egress/egress.js';
import { formatIp, type IpBytes, parseIp, unmap } from '../core/ip.js';
import type { SocksContext } from './context.js';
import { dial } from './dial.js';
import {
  AddressType,
  LOGIN_VERSION,
  METHOD_NO_AUTHENTICATION,
  METHOD_USERNAME_PASSWORD,
  Reply,
  type ReplyCode,
  VERSION,
} from './protocol.js';
import type { Upstream } from './upstreams.js';

/** What a parent is asked for, RFC 1928 §4. */
const COMMANDS = { connect: 0x01, associate: 0x03 } as const;
/** How long one address of the parent is tried alone, in ms; see dial.ts. */
const ATTEMPT_DELAY_MS = 250;

export interface UpstreamRequest {
  readonly upstream: Upstream;
  readonly command: keyof typeof COMMANDS;
  /** A name that the parent resolves, or an address. */
  readonly destination: { readonly host: string; readonly port: number };
  /** The parent has done it; the socket is paused, and what it bound is what the parent says. */
  readonly onConnected: (socket: Socket, boundAddress: string, boundPort: number) => void;
  /** `reason` is for the log: a system error code, or what the parent did. */
  readonly onFailed: (reply: ReplyCode, reason: string) => void;
}

/**
 * Finds the parent, connects to it and asks; `context.connectTimeoutMs` is for the latter two together. May fail before
 * it returns. The returned function gives up (and then neither callback is called).
 */
export function askUpstream(
  request: UpstreamRequest,
  accountId: string,
  context: Pick<SocksContext, 'resolve' | 'egress' | 'connectTimeoutMs'>,
): () => void {
  const { upstream, onFailed } = request;
  let cancel: (() => void) | null = null;
  let isGivenUp = false;
  if (parseIp(upstream.host) !== null) connectTo([upstream.host]);
  else
    context.resolve(upstream.host, accountId, (result) => {
      if (isGivenUp) return;
      if (result.ok) connectTo(result.addresses);
      else onFailed(Reply.generalFailure, `upstream-resolve-${result.reason}`);
    });
  return () => {
    isGivenUp = true;
    cancel?.();
  };

  function connectTo(addresses: readonly string[]): void {
    const others = addresses.filter((address) => !isOwnListener(address, upstream.port, context.egress));
    // A rule that names this proxy as its own parent would go round in circles.
    if (others.length === 0) return onFailed(Reply.generalFailure, 'upstream-is-this-proxy');
    cancel = dialUpstream(request, others, context.connectTimeoutMs);
  }
}

function isOwnListener(address: string, port: number, egress: EgressPolicy): boolean {
  const ip = parseIp(address);
  if (ip === null) return false;
  const verdict = egress.judge({ host: null, ip, port });
  return !verdict.ok && verdict.reason === 'own-listener';
}

function dialUpstream(request: UpstreamRequest, addresses: readonly string[], timeoutMs: number): () => void {
  const startedAt = performance.now();
  let cancel = dial({
    addresses,
    port: request.upstream.port,
    timeoutMs,
    attemptDelayMs: ATTEMPT_DELAY_MS,
    // What is wrong with the way to the parent says nothing about the destination.
    onFailed: (code) => request.onFailed(Reply.generalFailure, `upstream-${code}`),
    onConnected: (socket) => {
      cancel = ask(socket, request, Math.max(1, timeoutMs - (performance.now() - startedAt)));
    },
  });
  return () => cancel();
}

type Stage = 'method' | 'login' | 'reply';

/** Leads the parent through the handshake. */
function ask(socket: Socket, asked: UpstreamRequest, timeoutMs: number): () => void {
  const { upstream, onConnected, onFailed } = asked;
  let stage: Stage = 'method';
  let held: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => fail(Reply.ttlExpired, 'upstream-timeout'), timeoutMs);

  const onData = (chunk: Buffer): void => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (stage === 'method') readMethod();
    if (stage === 'login') readLogin();
    if (stage === 'reply') readReply();
  };
  const onClose = (): void => fail(Reply.generalFailure, 'upstream-closed');
  const release = (): void => {
    clearTimeout(timer);
    socket.off('data', onData).off('end', onClose).off('close', onClose);
  };
  const fail = (reply: ReplyCode, reason: string): void => {
    release();
    socket.destroy();
    onFailed(reply, reason);
  };

  const readMethod = (): void => {
    if (held.length < 2) return;
    const [version, method] = held;
    held = held.subarray(2);
    if (version !== VERSION) return fail(Reply.generalFailure, 'upstream-protocol');
    if (method === METHOD_NO_AUTHENTICATION) return request();
    if (method !== METHOD_USERNAME_PASSWORD || upstream.login === null) {
      return fail(Reply.generalFailure, 'upstream-method');
    }
    stage = 'login';
    socket.write(loginFrame(upstream.login));
  };
  const readLogin = (): void => {
    if (held.length < 2) return;
    const [, status] = held;
    held = held.subarray(2);
    if (status !== 0) return fail(Reply.generalFailure, 'upstream-login');
    request();
  };
  const request = (): void => {
    stage = 'reply';
    socket.write(requestFrame(asked));
  };
  const readReply = (): void => {
    const reply = parseReply(held);
    if (reply === 'more') return;
    if (reply === 'malformed') return fail(Reply.generalFailure, 'upstream-protocol');
    if (reply.code !== Reply.succeeded) return fail(reply.code, `upstream-reply-${reply.code}`);
    release();
    socket.pause();
    if (held.length > reply.length) socket.unshift(held.subarray(reply.length));
    onConnected(socket, reply.address, reply.port);
  };

  socket.on('data', onData).on('end', onClose).on('close', onClose);
  socket.write(methodsFrame(upstream));
  return () => {
    release();
    socket.destroy();
  };
}

function methodsFrame({ login }: Upstream): Buffer {
  const methods =
    login === null ? [METHOD_NO_AUTHENTICATION] : [METHOD_NO_AUTHENTICATION, METHOD_USERNAME_PASSWORD];
  return Buffer.from([VERSION, methods.length, ...methods]);
}

function loginFrame({ username, password }: { username: string; password: string }): Buffer {
  const name = Buffer.from(username);
  const word = Buffer.from(password);
  return Buffer.concat([Buffer.from([LOGIN_VERSION, name.length]), name, Buffer.from([word.length]), word]);
}

function requestFrame({ command, destination }: UpstreamRequest): Buffer {
  const fields = destinationFields(destination.host, destination.port);
  return Buffer.concat([Buffer.from([VERSION, COMMANDS[command], 0]), fields]);
}

/** ATYP, DST.ADDR and DST.PORT, as in requests and in front of datagrams (RFC 1928 §4, §7). */
export function destinationFields(host: string, port: number): Buffer {
  const ip = parseIp(host);
  const address = ip === null ? nameField(host) : addressField(unmap(ip));
  return Buffer.concat([address, Buffer.from([port >> 8, port & 0xff])]);
}

function nameField(name: string): Buffer {
  return Buffer.concat([Buffer.from([AddressType.domain, name.length]), Buffer.from(name, 'latin1')]);
}

function addressField(ip: IpBytes): Buffer {
  const type = ip.length === 4 ? AddressType.ipv4 : AddressType.ipv6;
  return Buffer.concat([Buffer.from([type]), ip]);
}

export interface UpstreamReply {
  readonly code: ReplyCode;
  /** BND.ADDR; 0.0.0.0 when the parent gives a name. */
  readonly address: string;
  readonly port: number;
  /** How many bytes the reply takes. */
  readonly length: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(Reply));

/** Reads a reply (RFC 1928 §6) that `bytes` begins with. A refusal may stop after its code: many servers send too little. */
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
