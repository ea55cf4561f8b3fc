// Each known defect of the package socksv5 is avoided in the parser's adapter; in the running daemon: connect.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SocksParser } from '../../src/proxy/protocols/socksv5.js';
import { greeting, request } from '../helpers/socks-client.js';

describe('the adapter of the socksv5 parser', () => {
  it('keeps every byte of an IPv6 destination, also zeros', () => {
    for (const bytes of [
      [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0x01, 0x01, 0],
      new Array<number>(16).fill(0),
      new Array<number>(16).fill(255),
      [0, 1, 0, 16, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]) {
      const parser = new SocksParser();
      assert.equal(parser.feed(greeting(2))?.kind, 'methods');
      parser.expectRequest();
      const message = parser.feed(Buffer.from([5, 1, 0, 4, ...bytes, 0x1f, 0x90]));
      assert.ok(message?.kind === 'request');
      assert.deepEqual([...message.address], bytes);
      assert.equal(message.port, 8080);
      assert.equal(message.addressType, 4);
    }
  });

  it('keeps the octets of a domain name that is not UTF-8', () => {
    const parser = new SocksParser();
    parser.feed(greeting(2));
    parser.expectRequest();
    const message = parser.feed(Buffer.from([5, 1, 0, 3, 3, 0xff, 0x00, 0xfe, 0, 80]));
    assert.ok(message?.kind === 'request');
    assert.deepEqual([...message.address], [0xff, 0x00, 0xfe]);
  });

  it('reports bind and udp as well as connect', () => {
    for (const [code, command] of [
      [1, 'connect'],
      [2, 'bind'],
      [3, 'udp'],
    ] as const) {
      const parser = new SocksParser();
      parser.feed(greeting(2));
      parser.expectRequest();
      const message = parser.feed(request('127.0.0.1', 80, code));
      assert.ok(message?.kind === 'request');
      assert.equal(message.command, command);
    }
  });

  it('reports unsupported values by octet, not by text', () => {
    const failure = (bytes: number[]) => {
      const parser = new SocksParser();
      parser.feed(greeting(2));
      parser.expectRequest();
      const message = parser.feed(Buffer.from(bytes));
      return message?.kind === 'error' ? message.octet : message?.kind;
    };
    assert.equal(failure([4]), 'version');
    assert.equal(failure([5, 9]), 'command');
    assert.equal(failure([5, 1, 0, 9]), 'address-type');
    assert.equal(failure([5, 3, 0, 9]), 'address-type');
    assert.equal(new SocksParser().feed(Buffer.from([4]))?.kind, 'error');
    assert.equal(new SocksParser().feed(Buffer.from([5, 0]))?.kind, 'error');
  });

  it('returns the bytes after a message, with any chunk boundaries', () => {
    const bytes = Buffer.concat([greeting(0, 2), Buffer.from('next')]);
    for (let splitAt = 1; splitAt < bytes.length; splitAt += 1) {
      const parser = new SocksParser();
      const first = parser.feed(bytes.subarray(0, splitAt));
      const message = first ?? parser.feed(bytes.subarray(splitAt));
      assert.equal(message?.kind, 'methods');
      const rest = Buffer.concat([
        parser.rest ?? Buffer.alloc(0),
        first ? bytes.subarray(splitAt) : Buffer.alloc(0),
      ]);
      assert.equal(rest.toString(), 'next', `split at ${splitAt}`);
    }
  });

  it('shares no state between connections', () => {
    const parsers = Array.from({ length: 50 }, () => new SocksParser());
    for (const parser of parsers) parser.feed(greeting(2));
    for (const parser of parsers) parser.expectRequest();
    const requests = parsers.map((_, i) => request(`host-${i}.test`, 1000 + i));
    for (let at = 0; at < 30; at += 1) {
      for (const [i, parser] of parsers.entries()) {
        const byte = requests[i]?.subarray(at, at + 1);
        const message = byte?.length ? parser.feed(byte) : null;
        if (message === null) continue;
        assert.ok(message.kind === 'request');
        assert.equal(Buffer.from(message.address).toString(), `host-${i}.test`);
        assert.equal(message.port, 1000 + i);
      }
    }
  });
});
