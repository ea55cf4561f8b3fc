// Requests in absolute form: what is forwarded to the destination, and what is refused as ambiguous.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readForwarding, readRequestLine } from '../../../../src/proxy/protocols/http/forward.js';
import { HeadReader } from '../../../../src/proxy/protocols/http/head.js';

const LIMITS = { maxHeaderBytes: 16_384, maxHeaderFields: 100 };

function forwarding(startLine: string, ...fields: string[]) {
  const head = new HeadReader(LIMITS).feed(
    Buffer.from(`${[startLine, ...fields].join('\r\n')}\r\n\r\n`, 'latin1'),
  );
  if (head.kind !== 'head') return assert.fail(head.kind);
  const line = readRequestLine(head.startLine);
  return typeof line === 'string' ? assert.fail(line) : readForwarding(line, head.fields);
}

function forwarded(startLine: string, ...fields: string[]) {
  const result = forwarding(startLine, ...fields);
  if (!result.ok) return assert.fail(`refused with ${result.status}`);
  const { request, forward } = result;
  return { ...forward, lines: forward.head.toString('latin1').split('\r\n').slice(0, -2), request };
}

const refusal = (startLine: string, ...fields: string[]): number | null => {
  const result = forwarding(startLine, ...fields);
  return result.ok ? null : result.status;
};

describe('a request in absolute form', () => {
  it('is forwarded to its host and port in origin form', () => {
    for (const [target, host, port, form, hostField] of [
      ['http://example.com/', 'example.com', 80, '/', 'example.com'],
      ['http://example.com', 'example.com', 80, '/', 'example.com'],
      ['HTTP://example.com:8080/a?b=c', 'example.com', 8080, '/a?b=c', 'example.com:8080'],
      ['http://example.com?b', 'example.com', 80, '/?b', 'example.com'],
      ['http://192.0.2.1/http://x/', '192.0.2.1', 80, '/http://x/', '192.0.2.1'],
      ['http://a/b@c:1', 'a', 80, '/b@c:1', 'a'],
    ] as const) {
      const { request, lines } = forwarded(`GET ${target} HTTP/1.1`, 'Host: other', 'X: y');
      assert.deepEqual([Buffer.from(request.address).toString(), request.port], [host, port], target);
      assert.deepEqual(
        lines,
        [`GET ${form} HTTP/1.1`, `Host: ${hostField}`, 'X: y', 'Connection: close'],
        target,
      );
    }
    const { request } = forwarded('GET http://[2001:db8::1]:81/ HTTP/1.1');
    assert.deepEqual([request.addressType, request.address.length, request.port], [4, 16, 81]);
    assert.equal(forwarded('OPTIONS http://a HTTP/1.1').lines[0], 'OPTIONS * HTTP/1.1');
    assert.equal(forwarded('OPTIONS http://a/ HTTP/1.1').lines[0], 'OPTIONS / HTTP/1.1');
  });

  it('is forwarded without hop-by-hop fields, and without fields that reveal a proxy', () => {
    const { lines } = forwarded(
      'POST http://a/ HTTP/1.1',
      'Host: a',
      'Connection: keep-alive, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic cGxheWVyOnNlY3JldA==',
      'Proxy-Authenticate: Basic',
      'TE: trailers',
      'Upgrade: websocket',
      'Content-Length: 3',
      'Authorization: Basic eDp5',
      'Cookie: a=b',
      'Expect: 100-continue',
    );
    assert.deepEqual(lines, [
      'POST / HTTP/1.1',
      'Host: a',
      'Content-Length: 3',
      'Authorization: Basic eDp5',
      'Cookie: a=b',
      'Expect: 100-continue',
      'Connection: close',
    ]);
  });

  it('has one framing', () => {
    assert.deepEqual(forwarded('GET http://a/ HTTP/1.1').framing, { kind: 'length', bytes: 0 });
    assert.deepEqual(forwarded('POST http://a/ HTTP/1.1', 'Content-Length: 007').framing, {
      kind: 'length',
      bytes: 7,
    });
    const chunked = forwarded('POST http://a/ HTTP/1.1', 'transfer-ENCODING: Chunked');
    assert.deepEqual(chunked.framing, { kind: 'chunked' });
    assert.deepEqual(chunked.lines.slice(2), ['Transfer-Encoding: chunked', 'Connection: close']);
    for (const fields of [
      ['Content-Length: 3', 'Transfer-Encoding: chunked'],
      ['Content-Length: 3', 'Content-Length: 3'],
      ['Content-Length: 3, 3'],
      ['Content-Length: +3'],
      ['Content-Length: -3'],
      ['Content-Length: 0x3'],
      ['Content-Length:'],
      ['Content-Length: 1234567890123456'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: gzip, chunked'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: identity'],
      ['Transfer-Encoding: "chunked"'],
      ['Connection: Content-Length', 'Content-Length: 3'],
      ['Connection: close, host'],
      ['Connection: a b'],
      ['Host: a', 'Host: a'],
    ]) {
      assert.equal(refusal('POST http://a/ HTTP/1.1', ...fields), 400, fields.join('; '));
    }
    assert.equal(refusal('POST http://a/ HTTP/1.0', 'Transfer-Encoding: chunked'), 400);
  });

  it('is refused when it is not for this proxy', () => {
    for (const [line, status] of [
      ['GET / HTTP/1.1', 400],
      ['GET * HTTP/1.1', 400],
      ['GET http:// HTTP/1.1', 400],
      ['GET http:/// HTTP/1.1', 400],
      ['GET http:a HTTP/1.1', 400],
      ['GET http://user@a/ HTTP/1.1', 400],
      ['GET http://a/#b HTTP/1.1', 400],
      ['GET http://a:/ HTTP/1.1', 400],
      ['GET http://a:65536/ HTTP/1.1', 400],
      ['GET http://a\\b/ HTTP/1.1', 400],
      ['GET http://[::1/ HTTP/1.1', 400],
      ['GET https://a/ HTTP/1.1', 501],
      ['GET ftp://a/ HTTP/1.1', 501],
      ['TRACE http://a/ HTTP/1.1', 501],
    ] as const) {
      assert.equal(refusal(line), status, line);
    }
    assert.equal(refusal('OPTIONS http://a/ HTTP/1.1', 'Max-Forwards: 0'), 501);
  });

  it('keeps its connection open unless it says close', () => {
    const isKept = (version: string, ...fields: string[]): boolean =>
      forwarded(`GET http://a/ ${version}`, ...fields).isKept;
    assert.equal(isKept('HTTP/1.1'), true);
    assert.equal(isKept('HTTP/1.1', 'Connection: Close'), false);
    assert.equal(isKept('HTTP/1.1', 'Proxy-Connection: close'), false);
    assert.equal(isKept('HTTP/1.0', 'Connection: keep-alive'), false);
    assert.equal(forwarded('GET http://a/ HTTP/1.0').lines[0], 'GET / HTTP/1.0');
  });
});
