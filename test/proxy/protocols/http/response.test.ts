// Responses of destinations: what reaches the client, where they end, and which are malformed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { ForwardedRequest } from '../../../../src/proxy/protocols/http/forward.js';
import { ResponseReader } from '../../../../src/proxy/protocols/http/response.js';

const LIMITS = { maxHeaderBytes: 256, maxHeaderFields: 10 };
const GET: ForwardedRequest = {
  head: Buffer.alloc(0),
  framing: { kind: 'length', bytes: 0 },
  isHead: false,
  minor: 1,
  isKept: true,
};

/** Returns what the client gets, and whether its connection is kept; null when the response is malformed. */
function relayed(pieces: string | readonly Buffer[], request: Partial<ForwardedRequest> = {}) {
  const reader = new ResponseReader({ ...GET, ...request }, LIMITS);
  const sent: Buffer[] = [];
  for (const piece of typeof pieces === 'string' ? [Buffer.from(pieces, 'latin1')] : pieces) {
    const result = reader.feed(piece);
    if (result.kind === 'malformed') return null;
    if (result.bytes !== null) sent.push(result.bytes);
    if (reader.isDone) break;
  }
  const { isDone, isKept, mayEnd } = reader;
  return { sent: Buffer.concat(sent).toString('latin1'), isDone, isKept, mayEnd };
}

it('a response with a framing ends there, and the connection is kept', () => {
  const kept = { isDone: true, isKept: true, mayEnd: true };
  for (const [response, sent, request] of [
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokMORE',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      {},
    ],
    ['HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', {}],
    ['HTTP/1.1 204 No\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\n', {}],
    ['HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n', 'HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n', {}],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n',
      { isHead: true },
    ],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      {},
    ],
    [
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n',
      {},
    ],
  ] as const) {
    assert.deepEqual(relayed(response, request), { sent, ...kept }, response);
    const bytes = [...Buffer.from(response, 'latin1')].map((byte) => Buffer.from([byte]));
    assert.deepEqual(relayed(bytes, request), { sent, ...kept }, response);
  }
});

it('a response without a body is relayed without Transfer-Encoding, a 204 or 1xx also without Content-Length', () => {
  const chunked = 'Transfer-Encoding: chunked\r\n';
  for (const [response, sent, request] of [
    [`HTTP/1.1 204 No\r\n${chunked}X: y\r\n\r\n`, 'HTTP/1.1 204 No\r\nX: y\r\n\r\n', {}],
    ['HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\n', {}],
    ['HTTP/1.1 204 No\r\nContent-Length: 7\r\n\r\n', 'HTTP/1.1 204 No\r\n\r\n', { isHead: true }],
    [`HTTP/1.1 304 No\r\n${chunked}\r\n`, 'HTTP/1.1 304 No\r\n\r\n', {}],
    [`HTTP/1.1 200 OK\r\n${chunked}\r\n`, 'HTTP/1.1 200 OK\r\n\r\n', { isHead: true }],
    [
      `HTTP/1.1 103 Hints\r\n${chunked}\r\nHTTP/1.1 100 C\r\nContent-Length: 2\r\n\r\nHTTP/1.1 304 No\r\n\r\n`,
      'HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 304 No\r\n\r\n',
      {},
    ],
  ] as const)
    assert.deepEqual(
      relayed(response, request),
      { sent, isDone: true, isKept: true, mayEnd: true },
      response,
    );
  // What would be chunked with a body is no reason to refuse it to a client of HTTP/1.0.
  const head = { isHead: true, minor: 0, isKept: false } as const;
  assert.equal(
    relayed(`HTTP/1.1 200 OK\r\n${chunked}\r\n`, head)?.sent,
    'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n',
  );
});

it('a response without a framing ends with its connection', () => {
  assert.deepEqual(relayed('HTTP/1.1 200 OK\r\nX: y\r\n\r\nabc'), {
    sent: 'HTTP/1.1 200 OK\r\nX: y\r\nConnection: close\r\n\r\nabc',
    isDone: false,
    isKept: false,
    mayEnd: true,
  });
  assert.equal(relayed('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')?.mayEnd, false);
});

it('a response is relayed without hop-by-hop fields', () => {
  const response =
    'HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: x\r\nProxy-Authenticate: Basic\r\n' +
    'Upgrade: h2c\r\nContent-Length: 0\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n';
  assert.equal(
    relayed(response)?.sent,
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n',
  );
});

it('a response to a client of HTTP/1.0 has no interim responses, and ends the connection', () => {
  const old = { minor: 0, isKept: false } as const;
  assert.equal(
    relayed('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', old)?.sent,
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  );
  assert.equal(relayed('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', old), null);
});

it('the interim responses to a request have at most maxHeaderBytes together, also those that the client does not get', () => {
  const final = 'HTTP/1.1 204 No\r\n\r\n';
  const hop = (bytes: number) => {
    const empty = 'HTTP/1.1 102 P\r\nConnection: x\r\nx: \r\n\r\n';
    return empty.replace('x: ', `x: ${'y'.repeat(bytes - empty.length)}`);
  };
  for (const minor of [0, 1] as const) {
    const shown = minor === 0 ? '' : 'HTTP/1.1 102 P\r\n\r\n';
    const atLimit = [hop(128), hop(128), final].map((text) => Buffer.from(text));
    assert.ok(relayed(atLimit, { minor })?.sent.startsWith(`${shown}${shown}HTTP/1.1 204 No\r\n`));
    assert.ok(relayed(Buffer.concat(atLimit).toString(), { minor })?.isDone);
    assert.equal(relayed([hop(128), hop(129), final].map(Buffer.from), { minor }), null);
    assert.equal(relayed(hop(128) + hop(129) + final, { minor }), null);
  }
});

it('a response that is ambiguous, requests a login, or exceeds the limits is malformed', () => {
  for (const response of [
    'SSH-2.0-OpenSSH_9\r\n\r\n',
    'HTTP/2 200 OK\r\n\r\n',
    'HTTP/1.1 99 x\r\n\r\n',
    'HTTP/1.1 200 OK\n\n',
    'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n',
    'HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n',
    'HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\n',
    'HTTP/1.1 200 OK\r\n folded\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(256)}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(11)}\r\n`,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n',
  ]) {
    assert.equal(relayed(response), null, JSON.stringify(response));
  }
});

it('the client gets the same response with any chunk boundaries', () => {
  const response = Buffer.from(
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n',
  );
  const expected = relayed([response]);
  fc.assert(
    fc.property(fc.array(fc.nat(response.length), { maxLength: 12 }), (cuts) => {
      const ends = [...new Set([...cuts, response.length])].sort((a, b) => a - b);
      const pieces = ends
        .map((end, i) => response.subarray(ends[i - 1] ?? 0, end))
        .filter(({ length }) => length > 0);
      assert.deepEqual(relayed(pieces), expected);
    }),
  );
});
