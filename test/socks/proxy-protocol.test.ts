// The PROXY protocol: headers by table and property, then through the running daemon.
import assert from 'node:assert/strict';
import { before, describe, it, test } from 'node:test';
import fc from 'fast-check';
import { createProxySources, parseProxyHeader } from '../../src/proxy/protocols/proxy-header.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { datagram, startUdpEcho, UDP_ASSOCIATE, UdpEnd, unwrap } from '../helpers/udp-client.js';

const SIGNATURE = '0d0a0d0a000d0a515549540a';

/** A version 2 header: command, family and the bytes after the length. */
function v2(command: number, family: number, rest: Buffer | string): Buffer {
  const body = typeof rest === 'string' ? Buffer.from(rest.replaceAll(' ', ''), 'hex') : rest;
  const head = Buffer.from(`${SIGNATURE}00000000`, 'hex');
  head[12] = command;
  head[13] = family;
  head.writeUInt16BE(body.length, 14);
  return Buffer.concat([head, body]);
}

const TCP4 = 'cb007109 c6336401 d431 0438'; // 203.0.113.9 to 198.51.100.1, 54321 to 1080
const TCP6 = `20010db8${'00'.repeat(11)}09 20010db8${'00'.repeat(11)}01 d431 0438`;

describe('PROXY headers', () => {
  const cases: [string, string | Buffer, string][] = [
    ['TCP4', 'PROXY TCP4 203.0.113.9 198.51.100.1 54321 1080\r\n', '203.0.113.9 54321'],
    ['TCP6', 'PROXY TCP6 2001:db8::9 2001:db8::1 54321 1080\r\n', '2001:db8::9 54321'],
    ['TCP6 with a mapped address', 'PROXY TCP6 ::ffff:203.0.113.9 ::1 1 2\r\n', '203.0.113.9 1'],
    ['UNKNOWN', 'PROXY UNKNOWN\r\n', 'none'],
    ['UNKNOWN and anything', 'PROXY UNKNOWN ffff::1 what ever\r\n', 'none'],
    ['longest line', `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`, 'none'],
    ['one byte longer', `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`, 'malformed'],
    ['a line without an end', `PROXY UNKNOWN ${'x'.repeat(200)}`, 'malformed'],
    ['without CR', 'PROXY TCP4 203.0.113.9 198.51.100.1 54321 1080\n', 'malformed'],
    ['two spaces', 'PROXY TCP4  203.0.113.9 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['one field more', 'PROXY TCP4 203.0.113.9 198.51.100.1 54321 1080 9\r\n', 'malformed'],
    ['one field less', 'PROXY TCP4 203.0.113.9 198.51.100.1 54321\r\n', 'malformed'],
    ['lower case', 'proxy TCP4 203.0.113.9 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['UDP4', 'PROXY UDP4 203.0.113.9 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['TCP4 with IPv6', 'PROXY TCP4 2001:db8::9 2001:db8::1 54321 1080\r\n', 'malformed'],
    ['TCP6 with IPv4', 'PROXY TCP6 203.0.113.9 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['octal address', 'PROXY TCP4 203.0.113.09 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['a zone', 'PROXY TCP6 fe80::1%lo fe80::2 1 2\r\n', 'malformed'],
    ['a name', 'PROXY TCP4 localhost 198.51.100.1 54321 1080\r\n', 'malformed'],
    ['port with a zero before it', 'PROXY TCP4 203.0.113.9 198.51.100.1 054 1080\r\n', 'malformed'],
    ['port too high', 'PROXY TCP4 203.0.113.9 198.51.100.1 65536 1080\r\n', 'malformed'],
    ['negative port', 'PROXY TCP4 203.0.113.9 198.51.100.1 -1 1080\r\n', 'malformed'],
    ['a NUL', 'PROXY TCP4 203.0.113.9\0 198.51.100.1 1 1080\r\n', 'malformed'],
    ['SOCKS instead', greeting(2), 'malformed'],
    ['a version 1 beginning', 'PROXY TC', 'more'],
    ['nothing', '', 'more'],
    ['v2 TCP4', v2(0x21, 0x11, TCP4), '203.0.113.9 54321'],
    ['v2 TCP6', v2(0x21, 0x21, TCP6), '2001:db8::9 54321'],
    ['v2 with TLVs', v2(0x21, 0x11, `${TCP4} 04 0002 abcd`), '203.0.113.9 54321'],
    ['v2 LOCAL', v2(0x20, 0x00, ''), 'none'],
    ['v2 LOCAL with addresses', v2(0x20, 0x11, TCP4), 'none'],
    ['v2 unspecified family', v2(0x21, 0x00, ''), 'none'],
    ['v2 UDP4', v2(0x21, 0x12, TCP4), 'none'],
    ['v2 Unix', v2(0x21, 0x31, Buffer.alloc(216)), 'none'],
    ['v2 addresses cut off', v2(0x21, 0x11, 'cb007109 c6336401 d431'), 'malformed'],
    ['v2 TCP6 with IPv4 addresses', v2(0x21, 0x21, TCP4), 'malformed'],
    ['v2 version 3', v2(0x31, 0x11, TCP4), 'malformed'],
    ['v2 unknown command', v2(0x22, 0x11, TCP4), 'malformed'],
    ['v2 longest', v2(0x20, 0x00, Buffer.alloc(4080)), 'none'],
    ['v2 one byte longer', v2(0x20, 0x00, Buffer.alloc(4081)), 'malformed'],
    ['v2 wrong signature', Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIZ\n', 'latin1'), Buffer.alloc(4)]), 'malformed'],
    ['v2 a beginning', Buffer.from('\r\n\r\n\0\r\nQ', 'latin1'), 'more'],
  ]; // biome-ignore format: a table
  for (const [name, bytes, expected] of cases) {
    test(name, () => {
      const header = parseProxyHeader(Buffer.from(bytes));
      const client = header.kind === 'header' ? header.client : null;
      const result =
        header.kind !== 'header' ? header.kind : client ? `${client.address} ${client.port}` : 'none';
      assert.equal(result, expected);
    });
  }

  test('an incomplete header is never malformed, and the bytes after a header are not part of it', () => {
    for (const [, bytes, expected] of cases) {
      if (expected === 'malformed' || expected === 'more') continue;
      const whole = Buffer.from(bytes);
      for (let cut = 0; cut < whole.length; cut += 1) {
        assert.equal(parseProxyHeader(whole.subarray(0, cut)).kind, 'more');
      }
      const followed = parseProxyHeader(Buffer.concat([whole, greeting(2), Buffer.alloc(5_000, 0x0a)]));
      assert.equal(followed.kind === 'header' && followed.length, whole.length);
    }
  });

  test('any bytes are parsed without an exception', () => {
    const start = fc.constantFrom(Buffer.alloc(0), Buffer.from('PROXY '), Buffer.from(SIGNATURE, 'hex'));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (prefix, bytes) => {
        const all = Buffer.concat([prefix, bytes]);
        const header = parseProxyHeader(all);
        if (header.kind === 'header') assert.ok(header.length <= all.length);
      }),
      { numRuns: 3_000 },
    );
  });
});

test('PROXY headers are trusted from the configured sources only', () => {
  const isSource = createProxySources(['10.0.0.0/8', '2001:db8::1', 'unix']);
  for (const [address, expected] of [
    ['10.1.2.3', true],
    ['11.1.2.3', false],
    ['2001:db8::1', true],
    ['2001:db8::2', false],
    ['unix', true],
    ['', false],
  ] as const) {
    assert.equal(isSource({ address }), expected, address);
  }
  assert.equal(createProxySources(['10.0.0.0/8'])({ address: 'unix' }), false);
  assert.throws(() => createProxySources(['10.0.0.0/33']), RangeError);
});

describe('a listener behind a load balancer', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          proxyProtocol: true,
          proxyProtocolFrom: ['127.0.0.1'],
          handshakeTimeout: '8s',
          host: '0.0.0.0',
        },
      },
    });
    await daemon.addAccount('player', 'secret');
    target = await startTarget(scope, echo);
  });

  const handshake = () => [greeting(2), login('player', 'secret'), request('127.0.0.1', target.port)];

  for (const [kind, header, client] of [
    ['a version 1 header', 'PROXY TCP4 203.0.113.9 198.51.100.1 54321 1080\r\n', '203.0.113.9'],
    ['a version 2 header', v2(0x21, 0x21, TCP6), '2001:db8::9'],
    ['a health check', v2(0x20, 0x00, ''), '127.0.0.1'],
  ] as const) {
    it(`uses the client address of ${kind}, which arrives at once or byte by byte`, async () => {
      for (const byByte of [false, true]) {
        const before = daemon.lines.length;
        const peer = await RawClient.connect(daemon.socks.port);
        const all = Buffer.concat([Buffer.from(header), ...handshake()]);
        if (byByte) for (const byte of all) peer.send(Buffer.from([byte]));
        else peer.send(all);
        await peer.read(4);
        assert.equal((await readReply(peer)).code, 0);
        peer.send('ping');
        assert.equal((await peer.read(4)).toString(), 'ping');
        peer.socket.end();
        await peer.closed();
        const line = await daemon.waitForLine(
          (each) => each.msg === 'session ended' && daemon.lines.indexOf(each) >= before,
        );
        assert.equal(line['client'], client);
      }
    });
  }

  it('logs a failed login with the client address of the header', async () => {
    const peer = await RawClient.connect(daemon.socks.port);
    peer.send(Buffer.concat([v2(0x21, 0x11, TCP4), greeting(2), login('player', 'wrong')]));
    assert.equal((await peer.readToEnd()).toString('hex'), '05020101');
    const line = await daemon.waitForLine((each) => each.msg === 'login failed');
    assert.equal(line['client'], '203.0.113.9');
  });

  it('accepts datagrams of an association from the client of the header, not from the load balancer', async (t) => {
    const echoEnd = await startUdpEcho(t);
    const control = await RawClient.connect(daemon.socks.port);
    t.after(() => control.destroy());
    const header = 'PROXY TCP4 127.0.0.5 198.51.100.1 54321 1080\r\n';
    const associate = request('0.0.0.0', 0, UDP_ASSOCIATE);
    control.send(Buffer.concat([Buffer.from(header), greeting(2), login('player', 'secret'), associate]));
    await control.read(4);
    const { code, port } = await readReply(control);
    assert.equal(code, 0);
    const [balancer, client] = [await UdpEnd.open(t, '127.0.0.1'), await UdpEnd.open(t, '127.0.0.5')];
    balancer.send(datagram('127.0.0.1', echoEnd.port, 'from the balancer'), port, '127.0.0.1');
    client.send(datagram('127.0.0.1', echoEnd.port, 'from the client'), port, '127.0.0.1');
    assert.equal(unwrap((await client.receive()).data).data.toString(), 'from the client');
    assert.equal(balancer.unread, 0);
  });

  it('closes the connection without a reply after a malformed or missing header', async () => {
    for (const bytes of ['PROXY TCP4 nonsense\r\n', greeting(2), v2(0x21, 0x11, 'cb007109')]) {
      const peer = await RawClient.connect(daemon.socks.port);
      peer.send(Buffer.concat([Buffer.from(bytes), ...handshake()]));
      assert.equal((await peer.readToEnd()).length, 0);
      await peer.closed();
    }
    await daemon.waitForLine((each) => each.msg === 'malformed PROXY header');
  });

  it('closes the connection when the header does not arrive in time', async () => {
    const peer = await RawClient.connect(daemon.socks.port);
    peer.send('PROXY TCP4 ');
    await peer.closed();
  });

  it('refuses a header from other sources, and serves them without a header', async () => {
    const withHeader = await RawClient.connect(daemon.socks.port, '127.0.0.1', '127.0.0.2');
    withHeader.send(Buffer.concat([v2(0x21, 0x11, TCP4), ...handshake()]));
    const answer = await withHeader.readToEnd();
    assert.notEqual(answer.subarray(0, 4).toString('hex'), '05020100');
    const withoutHeader = await RawClient.connect(daemon.socks.port, '127.0.0.1', '127.0.0.2');
    withoutHeader.send(Buffer.concat(handshake()));
    assert.equal((await withoutHeader.read(4)).toString('hex'), '05020100');
    assert.equal((await readReply(withoutHeader)).code, 0);
    withoutHeader.destroy();
  });
});
