// Lets a test use a driver in another thread: the streams, relays and sockets of the driver are numbered objects.
import type { Endpoint } from '../../../src/core/addresses/ip.js';
import type { DatagramRelay, UpstreamSocket } from '../../../src/proxy/io/datagrams.js';
import type { Io, Relay, Stream } from '../../../src/proxy/io/io.js';
import { type AccountRates, createSharedRate, type Meter } from '../../../src/proxy/io/rates.js';
import type { ListenerSpec } from '../../../src/proxy/messages.js';

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
  /** The number of bytes that the inspector reads. */
  readonly inspect?: number;
  readonly rates?: Rates | null;
  /** The index of this relay's counters. */
  readonly countAt: number;
}

export interface DatagramSettings {
  readonly bindAddress: string;
  readonly portRange: readonly [number, number] | null;
  readonly rates: Rates | null;
  readonly countAt: number;
}

/** Executes calls on `io`. `counts` is shared with the test. */
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
  const meter = (settings: Pick<RelaySettings, 'rates' | 'countAt'>): Meter => ({
    rates: rates(settings.rates),
    account: { quota: null },
    counts,
    countAt: settings.countAt,
  });

  function addStream(stream: Stream): { object: number; peer: Endpoint; local: Endpoint } {
    const object = add(stream);
    const reportEvent = (event: string, value: unknown): void => {
      if (calling === stream) throw new Error(`"${event}" from within a call of the stream`);
      report({ object, event, value });
      // The listener reacts to the event with one of the stream's own methods.
      const reaction = reactions.get(object)?.get(event);
      if (reaction !== undefined) stream[reaction]();
    };
    stream.listener = {
      onData: (chunk) => reportEvent('data', Uint8Array.from(chunk)),
      onEnd: () => reportEvent('end', null),
      onFailed: (code) => reportEvent('failed', code),
      onDrain: () => reportEvent('drain', null),
    };
    return { object, peer: stream.peer, local: stream.local };
  }
  const reactions = new Map<number, Map<string, 'close' | 'pause' | 'shutdown'>>();

  const root: Record<string, (...args: never[]) => unknown> = {
    /** Holds the driver's thread, so that what happens meanwhile is one batch of events for it. */
    hold: (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    now: () => io.now(),
    react(object: number, event: string, method: 'close' | 'pause' | 'shutdown') {
      const known = reactions.get(object) ?? new Map();
      reactions.set(object, known.set(event, method));
    },
    serve(spec: ListenerSpec) {
      const listener: { close(): void } = { close() {} };
      const object = add(listener);
      const onConnection = (stream: Stream): void =>
        report({ object, event: 'connection', value: addStream(stream) });
      io.serve(spec, onConnection, (result) => {
        if (result.ok) listener.close = () => result.close();
      });
      return object;
    },
    connect(to: Endpoint) {
      const attempt = { cancel() {} };
      const object = add(attempt);
      let isCalling = true;
      const reportEvent = (event: string, value: unknown): void =>
        report({ object, event: isCalling ? 'too early' : event, value });
      const pending = io.connect(to, {
        onConnected: (stream) => reportEvent('connected', addStream(stream)),
        onFailed: (code) => reportEvent('failed', code),
      });
      isCalling = false;
      attempt.cancel = () => pending.cancel();
      return object;
    },
    adopt: (fd: number) => addStream(io.adopt(fd)),
    isBlocked: (object: number) => get<Stream>(object).isBlocked,
    detach: (object: number) => io.detach(get<Stream>(object)),
    relay(client: number, destination: number, settings: RelaySettings) {
      const object = add(null);
      let remaining = settings.inspect ?? 0;
      const relay = io.relay({
        client: get<Stream>(client),
        destination: get<Stream>(destination),
        early: settings.early ? Buffer.from(settings.early) : null,
        inspect:
          remaining === 0
            ? null
            : (chunk) => {
                report({ object, event: 'inspected', value: Uint8Array.from(chunk) });
                remaining -= chunk.length;
                return remaining > 0;
              },
        meter: meter(settings),
        listener: { relayEnded: (end) => report({ object, event: 'ended', value: end }) },
      });
      objects.set(object, {
        close: () => relay.close(),
        keepAlive: () => relay.keepAlive(),
        isHalfClosed: () => relay.isHalfClosed,
        setRates: (bytes: Rates | null) => relay.setRates(rates(bytes)),
      } satisfies Record<Exclude<keyof Relay, 'handOver'>, unknown>);
      return object;
    },
    timer(delayMs: number) {
      const startedAt = io.now();
      const object = add(null);
      const timer = io.timer(delayMs, () => report({ object, event: 'due', value: io.now() - startedAt }));
      objects.set(object, timer);
      return object;
    },
    /** Cleared, twice, in the turn in which it was set. */
    clearedTimer(delayMs: number) {
      const object = add(null);
      const timer = io.timer(delayMs, () => report({ object, event: 'due', value: delayMs }));
      timer.clear();
      timer.clear();
      return object;
    },
  };

  // The native loop is synchronous, so these methods reply by a callback and not by a promise.
  const rootWithReply: Record<string, (reply: (value: unknown) => void, ...args: never[]) => void> = {
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
      const reportEvent =
        (event: string) =>
        (data: Buffer, { address, port }: Endpoint): void =>
          report({ object, event, value: { data: Uint8Array.from(data), from: { address, port } } });
      io.openDatagrams(
        {
          ...settings,
          outside: null,
          meter: meter(settings),
          ports: {
            add: (use, port) => report({ object, event: 'port added', value: { use, port } }),
            remove: (use, port) => report({ object, event: 'port removed', value: { use, port } }),
          },
          onClientDatagram: reportEvent('client datagram'),
          onOutsideDatagram: reportEvent('outside datagram'),
        },
        (opened) => {
          if (opened.ok) objects.set(object, datagramObject(opened.relay));
          reply(opened.ok ? { ok: true, object, local: opened.relay.local } : opened);
        },
      );
    },
  };

  /** Buffers arrive in another thread as Uint8Arrays. */
  function datagramObject(relay: DatagramRelay): Record<Exclude<keyof DatagramRelay, 'handOver'>, unknown> {
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
      outsidePort: (address: string) => relay.outsidePort(address),
      sendToClient: (header: Uint8Array, data: Uint8Array) =>
        relay.sendToClient(Buffer.from(header), Buffer.from(data)),
      setRates: (bytes: Rates | null) => relay.setRates(rates(bytes)),
      close: () => relay.close(),
      openUpstream(bindAddress: string, to: Endpoint) {
        const object = add(null);
        const socket = relay.openUpstream({
          bindAddress,
          end: null,
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
    execute({ call, object, method, args }: Call): void {
      try {
        const withReply = object === 0 ? rootWithReply[method] : undefined;
        if (withReply !== undefined)
          return withReply((value) => report({ call, value }), ...(args as never[]));
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
