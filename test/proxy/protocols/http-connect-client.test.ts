// HTTP CONNECT to an upstream proxy: the request, and responses with any chunk boundaries.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClientStep } from '../../../src/proxy/protocols/client-step.js';
import { HttpConnectClient } from '../../../src/proxy/protocols/http-connect-client.js';

const LOGIN = { username: 'anna', password: 'p:w' };

function connectTo(host: string, login: typeof LOGIN | null = null) {
  const client = new HttpConnectClient({ destination: { host, port: 443 }, login });
  const first = client.next();
  assert.equal(first.kind, 'send');
  return { client, request: first.kind === 'send' ? Buffer.from(first.bytes).toString('latin1') : '' };
}

/** Returns the last step after `answer`, which is split at `cuts`. */
function stepAfter(answer: string, cuts: readonly number[] = []): ClientStep {
  const { client } = connectTo('game.example');
  const bytes = Buffer.from(answer, 'latin1');
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  let from = 0;
  let rest = Buffer.alloc(0);
  for (const end of ends) {
    const piece = bytes.subarray(from, end);
    from = end;
    client.feed(Buffer.from(piece));
    const step = client.next();
    if (step.kind === 'more') continue;
    rest = Buffer.from(bytes.subarray(end));
    return step.kind === 'done'
      ? { ...step, rest: Buffer.concat([step.rest ?? Buffer.alloc(0), rest]) }
      : step;
  }
  return { kind: 'more' };
}

describe('HTTP CONNECT as a client', () => {
  it('sends a request in the form of RFC 9110 §9.3.6', () => {
    assert.equal(
      connectTo('game.example').request,
      'CONNECT game.example:443 HTTP/1.1\r\nHost: game.example:443\r\n\r\n',
    );
    assert.match(
      connectTo('2001:db8::1').request,
      /^CONNECT \[2001:db8::1\]:443 HTTP\/1\.1\r\nHost: \[2001:db8::1\]:443\r\n/,
    );
    assert.match(
      connectTo('game.example', LOGIN).request,
      /\r\nProxy-Authorization: Basic YW5uYTpwOnc=\r\n\r\n$/,
    );
  });

  for (const [answer, expected] of [
    ['HTTP/1.1 200 Connection established\r\n\r\n', 'done'],
    ['HTTP/1.0 200\r\nVia: x\r\n\r\n', 'done'],
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'done'],
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'upstream-login'],
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'upstream-status-403'],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\nbody', 'upstream-status-502'],
    ['SSH-2.0-OpenSSH\r\n\r\n', 'upstream-protocol'],
    ['HTTP/1.1 2000 no\r\n\r\n', 'upstream-protocol'],
    ['x'.repeat(20_000), 'upstream-protocol'],
    ['HTTP/1.1 200 OK\r\nVia: x\r\n', 'more'],
  ] as const) {
    it(`reads ${JSON.stringify(answer.slice(0, 40))} as ${expected}`, () => {
      const step = stepAfter(answer);
      assert.equal(step.kind === 'failed' ? step.reason : step.kind, expected);
    });
  }

  it('keeps the bytes after the response with any chunk boundaries', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 6 }), fc.string({ maxLength: 40 }), (cuts, text) => {
        const after = Buffer.from(text).toString('latin1');
        const step = stepAfter(`HTTP/1.1 200 OK\r\nX: y\r\n\r\n${after}`, cuts);
        assert.equal(step.kind, 'done');
        if (step.kind === 'done') assert.equal((step.rest ?? Buffer.alloc(0)).toString('latin1'), after);
      }),
    );
  });
});
