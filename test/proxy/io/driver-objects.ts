// What a test may do with a driver that runs in another thread: its streams, relays and sockets as numbered objects.
import type { DatagramRelay, UpstreamSocket } from '../../../src/proxy/io/datagrams.js';
import type { Endpoint, Io, Relay, Stream } from '../../../src/proxy/io/io.js';
import { type AccountRates, createSharedRate } from '../../../src/proxy/io/rates.js';

/** A call of `method` on an object; 0 is the driver itself. */
export interface Call {
  readonly call: number;
  readonly object: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Report =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly error: string }
  | { readonly object: number; readonly event: string; readonly value: unknown };

/** Bytes per second up and down. */
export type Rates = readonly [up: number, down: number];

export interface RelaySettings {
  readonly early?: Uint8Array | null;
  /** How many bytes the inspector wants to see. */
  readonly inspect?: number;
  readonly rates?: Rates | null;
  /** Where this relay counts. */
  readonly countAt: number;
}

export interface DatagramSettings {
  readonly bindAddress: string;
  readonly portRange: readonly [number, number] | null;
  readonly rates: Rates | null;
  readonly countAt: number;
}

/** Lets calls in at `obey` reach `io`. `counts` is shared with the test. */
export function createObjects(io: Io, counts: Float64Array, report: (message: Report) => void) {
  const objects = new Map<number, unknown>();
  let lastObject = 0;
  let calling: unknown = null;

  const add = (object: unknown): number => {
    lastObject += 1;
    objects.set(lastObject, object);
    return lastObject;
  };
  const get = <T>(object: number): T => objects.get(object) as T;
  const rates = (bytes: Rates | null | undefined): AccountRates | null =>
    bytes ? { up: createSharedRate(bytes[0], io), down: createSharedRate(bytes[1], io) } : null;

  function addStream(stream: Stream): { object: number; peer: Endpoint; local: Endpoint } {
    const object = add(stream);
    const tell = (event: string, value: unknown): void => {
      if (calling === stream) throw new Error(`"${event}" from within a call of the stream`);
      report({ object, event, value });
      // What the listener does in answer to an event: one of the stream's own methods.
      const answer = answers.get(object)?.get(event);
      if (answer !== undefined) stream[answer]();
    };
    stream.listener = {
      onData: (chunk) => tell('data', Uint8Array.from(chunk)),
      onEnd: () => tell('end', null),
      onFailed: (code) => tell('failed', code),
      onDrain: () => tell('drain', null),
    };
    return { object, peer: stream.peer, local: stream.local };
  }
  const answers = new Map<number, Map<string, 'close' | 'pause' | 'shutdown'>>();

  const root: Record<string, (...args: never[]) => unknown> = {
    now: () => io.now(),
    answer(object: number, event: string, method: 'close' | 'pause' | 'shutdown') {
      const known = answers.get(object) ?? new Map();
      answers.set(object, known.set(event, method));
    },
    acceptFrom(fd: number) {
      const listener: { close(): void } = { close() {} };
      const object = add(listener);
      const acceptor = io.acceptFrom(fd, (stream) =>
        report({ object, event: 'connection', value: addStream(stream) }),
      );
      listener.close = () => acceptor.close();
      return object;
    },
    connect(to: Endpoint) {
      const attempt = { cancel() {} };
      const object = add(attempt);
      let isCalling = true;
      const tell = (event: string, value: unknown): void =>
        report({ object, event: isCalling ? 'too early' : event, value });
      const made = io.connect(to, {
        onConnected: (stream) => tell('connected', addStream(stream)),
        onFailed: (code) => tell('failed', code),
      });
      isCalling = false;
      attempt.cancel = () => made.cancel();
      return object;
    },
    adopt: (fd: number) => addStream(io.adopt(fd)),
    isBlocked: (object: number) => get<Stream>(object).isBlocked,
    detach: (object: number) => io.detach(get<Stream>(object)),
    relay(client: number, destination: number, settings: RelaySettings) {
      const object = add(null);
      let toSee = settings.inspect ?? 0;
      const relay = io.relay({
        client: get<Stream>(client),
        destination: get<Stream>(destination),
        early: settings.early ? Buffer.from(settings.early) : null,
        inspect:
          toSee === 0
            ? null
            : (chunk) => {
                report({ object, event: 'inspected', value: Uint8Array.from(chunk) });
                toSee -= chunk.length;
                return toSee > 0;
              },
        rates: rates(settings.rates),
        counts,
        countAt: settings.countAt,
        owner: { relayEnded: (end) => report({ object, event: 'ended', value: end }) },
      });
      objects.set(object, {
        close: () => relay.close(),
        keepAlive: () => relay.keepAlive(),
        isHalfClosed: () => relay.isHalfClosed,
        setRates: (bytes: Rates | null) => relay.setRates(rates(bytes)),
      } satisfies Record<keyof Relay, unknown>);
      return object;
    },
    timer(delayMs: number) {
      const startedAt = io.now();
      const object = add(null);
      const timer = io.timer(delayMs, () => report({ object, event: 'due', value: io.now() - startedAt }));
      objects.set(object, timer);
      return object;
    },
  };

  // The native loop is synchronous: no promise is ever settled in it.
  const rootLater: Record<string, (reply: (value: unknown) => void, ...args: never[]) => void> = {
    listen(reply, address: string, port: number) {
      const listener = { close() {} };
      const object = add(listener);
      const onConnection = (stream: Stream): void =>
        report({ object, event: 'connection', value: addStream(stream) });
      io.listen({ address, port, onConnection }, (result) => {
        if (result.ok) listener.close = () => result.close();
        reply(result.ok ? { ok: true, local: result.local, object } : result);
      });
    },
    sourceAddressFor(reply, address: string) {
      io.sourceAddressFor(address, reply);
    },
    openDatagrams(reply, settings: DatagramSettings) {
      const object = add(null);
      const tell =
        (event: string) =>
        (data: Buffer, { address, port }: Endpoint): void =>
          report({ object, event, value: { data: Uint8Array.from(data), from: { address, port } } });
      io.openDatagrams(
        {
          ...settings,
          rates: rates(settings.rates),
          counts,
          ports: {
            add: (use, port) => report({ object, event: 'port added', value: { use, port } }),
            remove: (use, port) => report({ object, event: 'port removed', value: { use, port } }),
          },
          onClientDatagram: tell('client datagram'),
          onOutsideDatagram: tell('outside datagram'),
        },
        (opened) => {
          if (opened.ok) objects.set(object, datagramObject(opened.relay));
          reply(opened.ok ? { ok: true, object, local: opened.relay.local } : opened);
        },
      );
    },
  };

  /** Buffers cross the border of a thread as Uint8Arrays. */
  function datagramObject(relay: DatagramRelay): Record<keyof DatagramRelay, unknown> {
    return {
      local: () => relay.local,
      counts: () => ({ ...relay.counts }),
      setClient: (client: Endpoint) => relay.setClient(client),
      setRoute: (header: Uint8Array, to: Endpoint) => relay.setRoute(Buffer.from(header), to),
      removeRoute: (header: Uint8Array) => relay.removeRoute(Buffer.from(header)),
      setSource: (from: Endpoint, header: Uint8Array) => relay.setSource(from, Buffer.from(header)),
      removeSource: (from: Endpoint) => relay.removeSource(from),
      watchClient: (watch: boolean) => relay.watchClient(watch),
      sendOutside: (datagram: Uint8Array, offset: number, to: Endpoint) =>
        relay.sendOutside(Buffer.from(datagram), offset, to),
      sendToClient: (header: Uint8Array, data: Uint8Array) =>
        relay.sendToClient(Buffer.from(header), Buffer.from(data)),
      setRates: (bytes: Rates | null) => relay.setRates(rates(bytes)),
      close: () => relay.close(),
      openUpstream(bindAddress: string, to: Endpoint) {
        const object = add(null);
        const socket = relay.openUpstream({
          bindAddress,
          to,
          onDatagram: (data, { address, port }) =>
            report({
              object,
              event: 'datagram',
              value: { data: Uint8Array.from(data), from: { address, port } },
            }),
        });
        if (socket === null) return null;
        objects.set(object, {
          send: (header: Uint8Array, datagram: Uint8Array, offset: number) =>
            socket.send(Buffer.from(header), Buffer.from(datagram), offset),
          close: () => socket.close(),
        } satisfies Record<keyof UpstreamSocket, unknown>);
        return object;
      },
    };
  }

  return {
    obey({ call, object, method, args }: Call): void {
      try {
        const later = object === 0 ? rootLater[method] : undefined;
        if (later !== undefined) return later((value) => report({ call, value }), ...(args as never[]));
        const target = object === 0 ? root : get<typeof root>(object);
        const run = target[method];
        if (run === undefined) throw new Error(`no ${method}`);
        calling = target;
        const value = run.apply(target, args as never[]);
        calling = null;
        report({ call, value });
      } catch (error) {
        report({ call, error: String((error as Error).stack) });
      }
    },
  };
}
