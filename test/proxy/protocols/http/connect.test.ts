// CONNECT requests as tables of bytes: which are accepted, and with which status the others are refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HandshakeStep } from '../../../../src/proxy/protocols/client-protocol.js';
import { HttpProxy } from '../../../../src/proxy/protocols/http/http-proxy.js';
import { Reply } from '../../../../src/proxy/protocols/socks5.js';
import { basic } from '../../../helpers/http.js';

const LIMITS = { maxHeaderBytes: 1024, maxHeaderFields: 10 };
const LOGIN = `Proxy-Authorization: ${basic('player', 'secret')}\r\n`;

/** Feeds these pieces to a proxy. Returns the request, or the status of the refusal; null when the request is incomplete. */
function outcome(...pieces: readonly (string | Buffer)[]): unknown {
  const proxy = new HttpProxy(LIMITS);
  let login: string | null = null;
  for (const piece of pieces) {
    proxy.feed(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    for (let step: HandshakeStep = proxy.next(); step.kind !== 'more'; step = proxy.next()) {
      if (step.kind === 'refuse') return statusOf(step.bytes);
      if (step.kind === 'login') {
        login = `${Buffer.from(step.username)}:${Buffer.from(step.password)}`;
        assert.equal(proxy.accept(), null);
      }
      if (step.kind === 'address-login') return step.kind;
      if (step.kind === 'request') return { login, ...fieldsOf(step) };
    }
  }
  return null;
}

function fieldsOf({ request, rest }: Extract<HandshakeStep, { kind: 'request' }>): object {
  const { addressType, address, port } = request;
  const host = addressType === 3 ? Buffer.from(address).toString('latin1') : [...address];
  return { host, port, rest: rest?.toString('latin1') ?? null };
}

function statusOf(bytes: Uint8Array): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(Buffer.from(bytes).toString('latin1'))?.[1]);
}

const connect = (target: string, fields = LOGIN, version = 'HTTP/1.1'): string =>
  `CONNECT ${target} ${version}\r\n${fields}\r\n`;

describe('a CONNECT', () => {
  it('names a host and a port', () => {
    for (const [target, host, port] of [
      ['example.com:443', 'example.com', 443],
      ['192.0.2.1:80', '192.0.2.1', 80],
      ['[2001:db8::1]:8443', [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 8443],
      ['a:0', 'a', 0],
      ['a:65535', 'a', 65_535],
    ] as const) {
      assert.deepEqual(outcome(connect(target)), { login: 'player:secret', host, port, rest: null }, target);
    }
  });

  it('may be of HTTP/1.0, have no Host, and have fields that a tunnel ignores', () => {
    for (const head of [
      connect('a:1', LOGIN, 'HTTP/1.0'),
      connect('a:1', `Host: b:2\r\n${LOGIN}Proxy-Connection: keep-alive\r\nUser-Agent: x/1 \t\r\n`),
      connect('a:1', `${LOGIN}Content-Length: 0\r\nX:\r\n`),
      connect(
        'a:1',
        LOGIN.toUpperCase().replace(/BASIC .*/, basic('player', 'secret').replace('Basic', 'bAsIc')),
      ).replace(/$/, ''),
    ]) {
      assert.deepEqual(outcome(head), { login: 'player:secret', host: 'a', port: 1, rest: null }, head);
    }
  });

  it('may be followed by bytes for the tunnel', () => {
    assert.deepEqual(outcome(`${connect('a:1')}\x16\x03\x01`), {
      login: 'player:secret',
      host: 'a',
      port: 1,
      rest: '\x16\x03\x01',
    });
  });

  it('is refused with 400 when it is ambiguous', () => {
    for (const bytes of [
      connect('a'),
      connect('a:'),
      connect(':1'),
      connect('a:65536'),
      connect('a:1x'),
      connect('user@a:1'),
      connect('a:1/'),
      connect('http://a:1'),
      connect('[::1'),
      connect('[fe80::1%25eth0]:1'),
      connect('[1.2.3.4]:1'),
      connect('2001:db8::1:443'),
      'CONNECT  a:1 HTTP/1.1\r\n\r\n',
      'CONNECT a:1\r\n\r\n',
      'CONNECT a:1 HTTP/1.1 \r\n\r\n',
      'CONNECT\ta:1 HTTP/1.1\r\n\r\n',
      'CONNECT a:1 HTTP/11\r\n\r\n',
      connect('a:1', `${LOGIN}Transfer-Encoding: chunked\r\n`),
      connect('a:1', `${LOGIN}Content-Length: 5\r\n`),
      connect('a:1', `${LOGIN}Content-Length: 0\r\nContent-Length: 1\r\n`),
      connect('a:1', `${LOGIN}${LOGIN}`),
      connect('a:1', `Host: a\r\nHost: b\r\n${LOGIN}`),
      connect('a:1', `${LOGIN} folded\r\n`),
      connect('a:1', `${LOGIN}X : y\r\n`),
      connect('a:1', `${LOGIN}X\r\n`),
      connect('a:1', `${LOGIN}: y\r\n`),
      connect('a:1', `${LOGIN}X: a\x00b\r\n`),
      connect('a:1', `${LOGIN}X: a\rb\r\n`),
      'CONNECT a:1 HTTP/1.1\n\n',
      `CONNECT a:1 HTTP/1.1\r\n${LOGIN}\n`,
      `C\rONNECT a:1 HTTP/1.1\r\n\r\n`,
    ]) {
      assert.equal(outcome(bytes), 400, JSON.stringify(bytes));
    }
  });

  it('needs Basic credentials within the limits of accounts, or gets 407', () => {
    const b64 = (text: string): string => Buffer.from(text).toString('base64');
    for (const fields of ['', 'Authorization: Basic cGxheWVyOnNlY3JldA==\r\n'])
      assert.equal(outcome(connect('a:1', fields)), 'address-login', fields);
    for (const fields of [
      'Proxy-Authorization: Basic\r\n',
      'Proxy-Authorization: Basic !!!!\r\n',
      'Proxy-Authorization: Bearer cGxheWVyOnNlY3JldA==\r\n',
      `Proxy-Authorization: Basic ${b64('no-colon')}\r\n`,
      `Proxy-Authorization: Basic ${b64(':secret')}\r\n`,
      `Proxy-Authorization: Basic ${b64('player:')}\r\n`,
      `Proxy-Authorization: Basic ${b64(`${'x'.repeat(256)}:secret`)}\r\n`,
      `Proxy-Authorization: Basic ${b64(`player:${'x'.repeat(256)}`)}\r\n`,
    ]) {
      assert.equal(outcome(connect('a:1', fields)), 407, fields);
    }
    const longest = `${'x'.repeat(255)}:${'y'.repeat(255)}`;
    const found = outcome(connect('a:1', `Proxy-Authorization: Basic ${b64(longest)}\r\n`));
    assert.equal((found as { login: string }).login, longest);
  });

  it('accepts user names in UTF-8, which end at the first colon', () => {
    const field = `Proxy-Authorization: ${basic('玩家', 'a:b:ü')}\r\n`;
    assert.equal((outcome(connect('a:1', field)) as { login: string }).login, '玩家:a:b:ü');
  });

  it('is read up to the limits, and gets 431 beyond them', () => {
    const field = (i: number): string => `X-${i}: y\r\n`;
    const fields = (count: number): string => Array.from({ length: count - 1 }, (_, i) => field(i)).join('');
    assert.notEqual(outcome(connect('a:1', LOGIN + fields(10))), 431);
    assert.equal(outcome(connect('a:1', LOGIN + fields(11))), 431);
    const filled = (bytes: number): string => {
      const bare = connect('a:1', `${LOGIN}X: \r\n`).length;
      return connect('a:1', `${LOGIN}X: ${'y'.repeat(bytes - bare)}\r\n`);
    };
    assert.notEqual(outcome(filled(1024)), 431);
    assert.equal(outcome(filled(1025)), 431);
    assert.equal(outcome('C'.repeat(1023)), null);
    assert.equal(outcome('C'.repeat(1024)), 431);
  });

  it('gets 505 for another version, and 501 for another method', () => {
    assert.equal(outcome('PRI * HTTP/2.0\r\n\r\n'), 505);
    assert.equal(outcome('CONNECT a:1 HTTP/0.9\r\n\r\n'), 505);
    assert.equal(outcome(`TRACE http://a/ HTTP/1.1\r\n${LOGIN}\r\n`), 501);
  });

  it('is read the same with any chunk boundaries', () => {
    const bytes = Buffer.from(`${connect('example.com:443', `Host: x\r\n${LOGIN}`)}early`, 'latin1');
    const whole = outcome(connect('example.com:443', `Host: x\r\n${LOGIN}`));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length - 5), { maxLength: 20 }), (cuts) => {
        const ends = [...new Set([...cuts, bytes.length - 5])].sort((a, b) => a - b);
        const pieces = ends
          .map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
          .filter((each) => each.length > 0);
        assert.deepEqual(outcome(...pieces), whole);
      }),
    );
  });

  it('never throws, with any bytes', () => {
    const alphabet = fc.constantFrom(
      ...'CONNECT a:1 HTTP/1.1\r\n\r\nHost: x\r\n\t\0\xff'.split(''),
      connect('a:1'),
    );
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
        outcome(...parts);
      }),
    );
  });
});

it('an HTTP refusal has a reason, and reveals nothing about the network', () => {
  const proxy = new HttpProxy(LIMITS);
  const statuses = Object.values(Reply).map((code) => statusOf(proxy.reply(code)));
  assert.deepEqual(statuses, [200, 503, 403, 502, 502, 502, 504, 501, 400]);
  assert.equal(
    Buffer.from(proxy.loginFailed).toString('latin1'),
    'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="Pulsegate", charset="UTF-8"\r\n' +
      'Content-Type: text/plain; charset=utf-8\r\nContent-Length: 34\r\nConnection: close\r\n\r\n407 Proxy Authentication Required\n',
  );
  assert.equal(
    Buffer.from(proxy.reply(Reply.succeeded)).toString('latin1'),
    'HTTP/1.1 200 Connection established\r\n\r\n',
  );
});
