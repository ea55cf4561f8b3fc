// An HTTP exchange over fake streams: back pressure and rates, exact to the byte.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HttpExchange } from '../../../src/proxy/connection/http-exchange.js';
import type { Stream, StreamListener } from '../../../src/proxy/io/io.js';
import type { FlowShare, SharedRate } from '../../../src/proxy/io/rates.js';
import type { ForwardedRequest } from '../../../src/proxy/protocols/http/forward.js';

const NOBODY: StreamListener = { onData() {}, onEnd() {}, onFailed() {} };

class FakeStream implements Stream {
  readonly peer = { address: '192.0.2.1', port: 1 };
  readonly local = { address: '192.0.2.2', port: 2 };
  listener = NOBODY;
  isPaused = true;
  isBlocked = false;
  isClosed = false;
  sent = '';

  resume(): void {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
  write(bytes: Uint8Array): void {
    this.sent += Buffer.from(bytes).toString('latin1');
  }
  shutdown(): void {}
  close(): void {
    this.isClosed = true;
  }
  keepAlive(): void {}
}

/** A rate of which the test grants the bytes. */
class FakeRate implements SharedRate {
  granted = 0;
  #onTurn = (): void => {};

  join(onTurn: () => void): FlowShare {
    this.#onTurn = onTurn;
    return {
      take: (wanted) => {
        const taken = Math.min(wanted, this.granted);
        this.granted -= taken;
        return taken;
      },
      end() {},
    };
  }
  grant(bytes: number): void {
    this.granted += bytes;
    this.#onTurn();
  }
  setRate(): void {}
  pass(): boolean {
    return false;
  }
}

const POST: ForwardedRequest = {
  head: Buffer.from('POST / HTTP/1.1\r\n\r\n'),
  framing: { kind: 'length', bytes: 10 },
  isHead: false,
  minor: 1,
  isKept: true,
};
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n';

function exchange(early: string | null = null, rate: FakeRate | null = null) {
  const client = new FakeStream();
  const destination = new FakeStream();
  const ends: unknown[] = [];
  const counts = new Float64Array(2);
  const httpExchange = new HttpExchange({
    client,
    destination,
    request: POST,
    early: early === null ? null : Buffer.from(early),
    limits: { maxHeaderBytes: 1024, maxHeaderFields: 10 },
    inspect: null,
    meter: { rates: rate && { up: rate, down: rate }, account: { quota: null }, counts, countAt: 0 },
    onOver(outcome) {
      if (outcome.kind !== 'answered') ends.push(`${outcome.kind}: ${outcome.end}`);
      else ends.push(outcome.rest === null ? 'closing' : `kept ${outcome.rest.toString()}`);
    },
  });
  httpExchange.start(null);
  return { httpExchange, client, destination, ends, counts };
}

it('an HTTP exchange does not read from one side while the other is blocked', () => {
  const { client, destination, ends, counts } = exchange('01234');
  assert.equal(destination.sent, `${POST.head}01234`);
  destination.isBlocked = true;
  client.listener.onData(Buffer.from('5678'));
  assert.equal(client.isPaused, true);
  assert.equal(destination.sent, `${POST.head}01234`);
  destination.isBlocked = false;
  destination.listener.onDrain?.();
  assert.equal(client.isPaused, false);
  client.listener.onData(Buffer.from('9NEXT'));
  assert.equal(destination.sent, `${POST.head}0123456789`);
  assert.equal(client.isPaused, true, 'the next request is not read yet');

  client.isBlocked = true;
  destination.listener.onData(Buffer.from(`${OK}abcd`));
  assert.deepEqual([destination.isPaused, client.sent, ends], [true, '', []]);
  client.isBlocked = false;
  client.listener.onDrain?.();
  assert.equal(client.sent, `${OK}abcd`);
  assert.deepEqual(ends, ['kept NEXT']);
  assert.deepEqual([...counts], [POST.head.length + 10, OK.length + 4]);
  assert.deepEqual([destination.isClosed, client.isClosed], [true, false]);
});

it('an HTTP exchange relays no more than the rate of the account permits', () => {
  const rate = new FakeRate();
  const { client, destination, ends } = exchange('0123456789', rate);
  assert.equal(destination.sent, '');
  assert.equal(client.isPaused, true);
  rate.granted = 4;
  destination.listener.onDrain?.();
  assert.equal(destination.sent, 'POST');
  destination.listener.onData(Buffer.from(`${OK}abcd`));
  assert.equal(client.sent, '');
  rate.grant(1_000);
  assert.equal(client.sent, `${OK}abcd`);
  assert.deepEqual(ends, ['kept ']);
});

it('an HTTP exchange closes the connection of a client that is answered before the end of its request', () => {
  const { client, destination, ends } = exchange('0123');
  destination.listener.onData(Buffer.from(`${OK}abcd`));
  assert.equal(client.sent, `${OK}abcd`);
  assert.deepEqual(ends, ['closing']);
  assert.equal(client.isClosed, false, 'the client must get the response first');
});

it('an HTTP exchange ends with the reason of the side that ended', () => {
  for (const [act, expected] of [
    [({ client }) => client.listener.onEnd(), 'cut-off: client-closed'],
    [({ client }) => client.listener.onFailed('ECONNRESET'), 'cut-off: client-reset'],
    [({ destination }) => destination.listener.onEnd(), 'no-answer: destination-closed'],
    [({ destination }) => destination.listener.onFailed('ECONNRESET'), 'no-answer: destination-reset'],
    [
      ({ destination }) => destination.listener.onData(Buffer.from('no HTTP\r\n\r\n')),
      'no-answer: relay-failed',
    ],
  ] as readonly [(sides: { client: FakeStream; destination: FakeStream }) => void, string][]) {
    const sides = exchange('0123');
    act(sides);
    assert.deepEqual(sides.ends, [expected]);
    assert.equal(sides.destination.isClosed, true);
    assert.equal(sides.client.isClosed, expected.startsWith('cut-off'));
  }
  const answered = exchange('0123456789');
  answered.client.listener.onEnd();
  assert.equal(answered.httpExchange.isHalfClosed, true);
  answered.destination.listener.onData(Buffer.from(`${OK}a`));
  answered.destination.listener.onEnd();
  assert.deepEqual(answered.ends, ['cut-off: destination-closed']);
  assert.equal(answered.client.isClosed, true, 'a truncated response must not look complete');
});
