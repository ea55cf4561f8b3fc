// A driver in its thread, as a test uses it: every method of a remote object returns a promise, and the reports of the object are
// events that a test can wait for.
import { EventEmitter, once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Endpoint } from '../../../src/core/addresses/ip.js';
import type { RelayEnd } from '../../../src/proxy/io/io.js';
import type { Libc } from '../../../src/proxy/io/native/libc.js';
import type { Call, DatagramSettings, Rates, RelaySettings, Report } from './driver-objects.js';
import type { DriverWorkerData } from './driver-worker.js';

export type Engine = DriverWorkerData['engine'];

/** Relays that a driver can count for at once. */
const COUNTED = 4096;

/** An object in the driver's thread. `events(name)` returns all its events so far. */
export class Remote extends EventEmitter {
  readonly #seen = new Map<string, unknown[]>();

  constructor(
    readonly driver: Driver,
    readonly object: number,
  ) {
    super();
    this.setMaxListeners(0);
    driver.objects.set(object, this);
  }

  call<T = undefined>(method: string, ...args: unknown[]): Promise<T> {
    return this.driver.call<T>(this.object, method, ...args);
  }

  events<T>(name: string): T[] {
    const seen = this.#seen.get(name) ?? [];
    this.#seen.set(name, seen);
    return seen as T[];
  }

  record(name: string, value: unknown): void {
    this.events(name).push(value);
    this.emit('event', name);
  }

  /** Resolves with the first event of this name, or the one at `index`. */
  async event<T>(name: string, index = 0): Promise<T> {
    while (this.events(name).length <= index) await once(this, 'event');
    return this.events<T>(name)[index] as T;
  }
}

export class RemoteStream extends Remote {
  readonly peer: Endpoint;
  readonly local: Endpoint;

  constructor(driver: Driver, made: { object: number; peer: Endpoint; local: Endpoint }) {
    super(driver, made.object);
    this.peer = made.peer;
    this.local = made.local;
  }

  get received(): Buffer {
    return Buffer.concat(this.events<Uint8Array>('data'));
  }

  /** Resolves with all data so far once it has at least `bytes` bytes. */
  async data(bytes: number): Promise<Buffer> {
    while (this.received.length < bytes) await once(this, 'event');
    return this.received;
  }
}

export class RemoteRelay extends Remote {
  ended(): Promise<RelayEnd> {
    return this.event<RelayEnd>('ended');
  }
}

export class Driver {
  readonly objects = new Map<number, Remote>();
  readonly counts: Float64Array;
  readonly #port: MessageChannel['port1'];
  readonly #worker: Worker;
  readonly #answers = new Map<number, (report: Report) => void>();
  /** Events of objects that the test does not know yet. */
  readonly #unclaimed: Extract<Report, { object: number }>[] = [];
  #wakeFd = -1;
  #libc: Libc | null = null;
  #calls = 0;
  #countedUntil = 0;

  private constructor(readonly engine: Engine) {
    const { port1, port2 } = new MessageChannel();
    const counts = new SharedArrayBuffer(2 * COUNTED * Float64Array.BYTES_PER_ELEMENT);
    this.counts = new Float64Array(counts);
    this.#port = port1;
    const workerData: DriverWorkerData = { engine, calls: port2, counts };
    this.#worker = new Worker(new URL('./driver-worker.js', import.meta.url), {
      workerData,
      transferList: [port2],
    });
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  static async start(engine: Engine): Promise<Driver> {
    const driver = new Driver(engine);
    const [{ wakeFd }] = (await once(driver.#port, 'message')) as [{ wakeFd: number }];
    driver.#wakeFd = wakeFd;
    if (engine === 'native') driver.#libc = (await import('../../../src/proxy/io/native/libc.js')).loadLibc();
    driver.#port.on('message', driver.#onReport);
    return driver;
  }

  /** Returns the index of a relay's counter of bytes up; the one of bytes down is the next. */
  nextCountAt(): number {
    this.#countedUntil = (this.#countedUntil + 2) % (2 * COUNTED);
    this.counts.fill(0, this.#countedUntil, this.#countedUntil + 2);
    return this.#countedUntil;
  }

  call<T = undefined>(object: number, method: string, ...args: unknown[]): Promise<T> {
    this.#calls += 1;
    const call: Call = { call: this.#calls, object, method, args };
    return new Promise<T>((resolve, reject) => {
      this.#answers.set(call.call, (report) => {
        if ('error' in report) reject(new Error(report.error));
        else resolve(report.value as T);
      });
      this.#send(call);
    });
  }

  /** Listens on `address`. Returns the error code when that fails. */
  async listen(address = '127.0.0.1', port = 0): Promise<{ listener: Remote; local: Endpoint } | string> {
    type Result = { ok: true; object: number; local: Endpoint } | { ok: false; code: string };
    const result = await this.call<Result>(0, 'listen', address, port);
    return result.ok
      ? { listener: this.adoptEvents(new Remote(this, result.object)), local: result.local }
      : result.code;
  }

  async connect(to: Endpoint): Promise<RemoteStream | string> {
    const attempt = this.adoptEvents(new Remote(this, await this.call<number>(0, 'connect', to)));
    while (attempt.events('connected').length + attempt.events('failed').length === 0)
      await once(attempt, 'event');
    const [code] = attempt.events<string>('failed');
    return code ?? this.stream(attempt.events('connected')[0]);
  }

  stream(made: unknown): RemoteStream {
    return this.adoptEvents(
      new RemoteStream(this, made as { object: number; peer: Endpoint; local: Endpoint }),
    );
  }

  /** Returns the connection of a listener at `index`. */
  async accepted(listener: Remote, index = 0): Promise<RemoteStream> {
    return this.stream(await listener.event('connection', index));
  }

  isBlocked(stream: Remote): Promise<boolean> {
    return this.call(0, 'isBlocked', stream.object);
  }

  async relay(
    client: Remote,
    destination: Remote,
    settings: Partial<RelaySettings> = {},
  ): Promise<{ relay: RemoteRelay; bytesUp(): number; bytesDown(): number }> {
    const countAt = settings.countAt ?? this.nextCountAt();
    const args = [client.object, destination.object, { ...settings, countAt }];
    const relay = this.adoptEvents(new RemoteRelay(this, await this.call<number>(0, 'relay', ...args)));
    return {
      relay,
      bytesUp: () => this.counts[countAt] ?? 0,
      bytesDown: () => this.counts[countAt + 1] ?? 0,
    };
  }

  async openDatagrams(
    settings: Partial<DatagramSettings> = {},
  ): Promise<{ relay: Remote; local: Endpoint; countAt: number } | string> {
    type Result = { ok: true; object: number; local: Endpoint } | { ok: false; code: string };
    const countAt = this.nextCountAt();
    const complete: DatagramSettings = {
      bindAddress: '127.0.0.1',
      portRange: null,
      rates: null,
      ...settings,
      countAt,
    };
    const result = await this.call<Result>(0, 'openDatagrams', complete);
    return result.ok
      ? { relay: this.adoptEvents(new Remote(this, result.object)), local: result.local, countAt }
      : result.code;
  }

  /** Passes to a new object the events that were reported before the test knew it. */
  adoptEvents<T extends Remote>(remote: T): T {
    for (let i = 0; i < this.#unclaimed.length; i += 1) {
      const report = this.#unclaimed[i];
      if (report?.object !== remote.object) continue;
      this.#unclaimed.splice(i, 1);
      i -= 1;
      remote.record(report.event, report.value);
    }
    return remote;
  }

  async close(): Promise<void> {
    this.#send('stop');
    await once(this.#worker, 'exit');
    this.#port.close();
  }

  #send(message: Call | 'stop'): void {
    this.#port.postMessage(message);
    this.#libc?.signalEventFd(this.#wakeFd);
  }

  readonly #onReport = (report: Report): void => {
    if ('call' in report) {
      const answer = this.#answers.get(report.call);
      this.#answers.delete(report.call);
      answer?.(report);
    } else {
      const remote = this.objects.get(report.object);
      if (remote) remote.record(report.event, report.value);
      else this.#unclaimed.push(report);
    }
  };
}

export type { Rates };
