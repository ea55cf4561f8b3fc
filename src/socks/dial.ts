// Dialling a destination that has several addresses: RFC 8305 ("happy eyeballs") §4 and §5.
// node:net's own autoSelectFamily gives up an attempt when it starts the next one, so a far but healthy address
// can lose to a dead one; here every started attempt stays alive until one of them is connected.
import { connect, type NetConnectOpts, type Socket } from 'node:net';

export interface DialOptions {
  /** Permitted addresses in the order of the resolver; at least one. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** For all attempts together, in ms. */
  readonly timeoutMs: number;
  /** How long an attempt runs alone before the next one starts beside it, in ms (RFC 8305 §5 recommends 250). */
  readonly attemptDelayMs: number;
  /** The socket is connected, paused, and carries no listeners but an `error` one. */
  readonly onConnected: (socket: Socket, address: string) => void;
  /** `code` is a system error code such as ECONNREFUSED: the most telling one of all attempts. */
  readonly onFailed: (code: string) => void;
}

/** Which failure says most about the destination: one that answered beats one that could not be reached. */
const MOST_TELLING = ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Starts dialling; the returned function gives up (and then neither callback is called). */
export function dial(options: DialOptions): () => void {
  const addresses = interleaveFamilies(options.addresses);
  const attempts = new Set<Socket>();
  const failures: string[] = [];
  let next = 0;
  let isDone = false;
  let stagger: NodeJS.Timeout | undefined;

  const finish = (): void => {
    isDone = true;
    clearTimeout(deadline);
    clearTimeout(stagger);
    for (const attempt of attempts) attempt.destroy();
  };

  const deadline = setTimeout(() => {
    finish();
    options.onFailed('ETIMEDOUT');
  }, options.timeoutMs);

  const startNext = (): void => {
    clearTimeout(stagger);
    const address = addresses[next];
    if (address === undefined) return;
    next += 1;
    start(address);
    if (next < addresses.length) stagger = setTimeout(startNext, options.attemptDelayMs);
  };

  const start = (address: string): void => {
    const socket = connect(connectOptions(address, options.port));
    attempts.add(socket);
    socket.once('connect', () => {
      if (isDone) return;
      attempts.delete(socket);
      finish();
      options.onConnected(socket, address);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (isDone || !attempts.delete(socket)) return;
      failures.push(error.code ?? 'UNKNOWN');
      if (next < addresses.length) startNext();
      else if (attempts.size === 0) {
        finish();
        options.onFailed(mostTelling(failures));
      }
    });
  };

  startNext();
  return () => {
    if (!isDone) finish();
  };
}

/** The last three are what net.Socket sets anyway: given to it they save time, see quick-sockets.ts. */
function connectOptions(host: string, port: number): NetConnectOpts {
  const options = {
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: false,
    emitClose: false,
    autoDestroy: true,
    decodeStrings: false,
  };
  return options;
}

/** IPv6 and IPv4 in turn, IPv6 first, each family in its given order (RFC 8305 §4). */
export function interleaveFamilies(addresses: readonly string[]): string[] {
  if (addresses.length < 2) return [...addresses];
  const v6 = addresses.filter((address) => address.includes(':'));
  const v4 = addresses.filter((address) => !address.includes(':'));
  const rounds = Array.from({ length: Math.max(v6.length, v4.length) }, (_, i) => [v6[i], v4[i]]);
  return rounds.flat().filter((address) => address !== undefined);
}

function mostTelling(failures: readonly string[]): string {
  return MOST_TELLING.find((code) => failures.includes(code)) ?? failures[0] ?? 'UNKNOWN';
}
