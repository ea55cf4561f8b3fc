// Connecting by way of a parent SOCKS5 proxy: the client's side of RFC 1928 §3, §4, §6 and RFC 1929.
import type { Socket } from 'node:net';
import { formatIp, type IpBytes, parseIp, unmap } from '../core/ip.js';
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

const COMMAND_CONNECT = 0x01; // RFC 1928 §4
/** How long one address of the parent is tried alone, in ms; see dial.ts. */
const ATTEMPT_DELAY_MS = 250;

export interface UpstreamDial {
  readonly upstream: Upstream;
  /** Addresses of the parent; at least one. */
  readonly addresses: readonly string[];
  /** A name that the parent resolves, or an address. */
  readonly destination: { readonly host: string; readonly port: number };
  /** For connecting and asking together, in ms. */
  readonly timeoutMs: number;
  /** The socket is paused and leads to the destination; what it bound is what the parent says. */
  readonly onConnected: (socket: Socket, boundAddress: string, boundPort: number) => void;
  /** `reason` is for the log: a system error code, or what the parent did. */
  readonly onFailed: (reply: ReplyCode, reason: string) => void;
}

/** Starts; the returned function gives up (and then neither callback is called). */
export function dialUpstream(options: UpstreamDial): () => void {
  const { upstream, addresses, timeoutMs, onFailed } = options;
  const startedAt = performance.now();
  let cancel = dial({
    addresses,
    port: upstream.port,
    timeoutMs,
    attemptDelayMs: ATTEMPT_DELAY_MS,
    // What is wrong with the way to the parent says nothing about the destination.
    onFailed: (code) => onFailed(Reply.generalFailure, `upstream-${code}`),
    onConnected: (socket) => {
      cancel = ask(socket, options, Math.max(1, timeoutMs - (performance.now() - startedAt)));
    },
  });
  return () => cancel();
}

type Stage = 'method' | 'login' | 'reply';

/** Leads the parent through the handshake. */
function ask(socket: Socket, options: UpstreamDial, timeoutMs: number): () => void {
  const { upstream, destination, onConnected, onFailed } = options;
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
    socket.write(requestFrame(destination.host, destination.port));
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

function requestFrame(host: string, port: number): Buffer {
  const ip = parseIp(host);
  const address = ip === null ? nameField(host) : addressField(unmap(ip));
  return Buffer.concat([
    Buffer.from([VERSION, COMMAND_CONNECT, 0]),
    address,
    Buffer.from([port >> 8, port & 0xff]),
  ]);
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
