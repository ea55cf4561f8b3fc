// Whether the players' listeners answer: connects to each like a player and sends a greeting without a login. A listener whose
// workers do not accept still takes connections, in the backlog of the system, and answers none.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { codeOf } from '../../core/errors.js';

/** Time limit for an answer, in ms. A worker that dies again and again is restarted after a second. */
const ANSWER_MS = 3_000;
/** How long a result is used for further requests, in ms. */
const KEEP_MS = 1_000;
/** The client offers the authentication by name and password (RFC 1928 §3). */
const GREETING = Buffer.from([0x05, 0x01, 0x02]);
/** No descriptor is free for the connection, which tells nothing about the listener. */
const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE']);

/**
 * Returns a function that resolves with whether every listener answers. Requests at the same time share one check.
 * @param addresses as `Listening.addresses`
 * @param monotonicNow in ms
 */
export function createListenerCheck(
  addresses: () => readonly string[],
  monotonicNow: () => number = () => performance.now(),
): () => Promise<boolean> {
  let checked: Promise<boolean> | null = null;
  let keptUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (checked !== null && monotonicNow() < keptUntil) return checked;
    keptUntil = Number.POSITIVE_INFINITY;
    checked = Promise.all(addresses().map(isAnswered)).then((answers) => {
      keptUntil = monotonicNow() + KEEP_MS;
      return answers.every((isAnswer) => isAnswer);
    });
    return checked;
  };
}

/** A listener that closes the connection has answered too: it may be full, or serve another protocol. */
function isAnswered(address: string): Promise<boolean> {
  const socket = open(address);
  // The path of a Unix socket from systemd is unknown.
  if (socket === null) return Promise.resolve(true);
  return new Promise((resolve) => {
    let isConnected = false;
    const end = (isAnswer: boolean): void => {
      clearTimeout(timeout);
      socket.destroy();
      resolve(isAnswer);
    };
    const timeout = setTimeout(() => end(false), ANSWER_MS);
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('data', () => end(true));
    socket.once('end', () => end(true));
    socket.on('error', (error) => end(isConnected || NO_DESCRIPTOR.has(codeOf(error) ?? '')));
    socket.write(GREETING);
  });
}

function open(address: string): Socket | null {
  if (address.startsWith('unix:')) return connect({ path: address.slice('unix:'.length) });
  const parts = /^(tls:\/\/)?\[?([^[\]]+)\]?:(\d+)$/.exec(address);
  if (parts === null || address.startsWith('fd:')) return null;
  const [, scheme, bound = '', port] = parts;
  const host = bound === '0.0.0.0' ? '127.0.0.1' : bound === '::' ? '::1' : bound;
  const to = { host, port: Number(port) };
  return scheme === undefined ? connect(to) : connectTls({ ...to, rejectUnauthorized: false });
}
