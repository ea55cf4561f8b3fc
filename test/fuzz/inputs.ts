// A property for each parser of bytes or texts from outside, which must hold for any input. The tests and `npm run fuzz`
// run them. Half of the inputs are random, half are almost valid, because an input with one error gets furthest.
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { formatIp, inCidr, parseCidr, parseIp, unmap } from '../../src/core/addresses/ip.js';
import { parseWhitelist } from '../../src/core/auth/whitelist.js';
import { createEgressPolicy } from '../../src/core/egress/egress.js';
import { checkDestinationName, parseEgressEntry } from '../../src/core/egress/egress-entry.js';
import { formatWireDate, parseWireDate } from '../../src/core/time/wire-date.js';
import {
  headerKey,
  headerLengthOf,
  readDatagramHeader,
  writeDatagramHeader,
} from '../../src/proxy/protocols/datagram-header.js';
import { parseProxyHeader } from '../../src/proxy/protocols/proxy-header.js';
import { LoginParser } from '../../src/proxy/protocols/socks5-handshake.js';
import { SocksParser } from '../../src/proxy/protocols/socksv5.js';

/** The property of a parser. `run` tries a number of cases from a seed, and throws with the smallest failing case. */
export interface FuzzTarget {
  readonly name: string;
  run(cases: number, seed?: number): void;
}

function target<T extends [unknown, ...unknown[]]>(
  name: string,
  inputs: { [K in keyof T]: fc.Arbitrary<T[K]> },
  holds: (...values: T) => void,
): FuzzTarget {
  const property = fc.property(...inputs, holds);
  return {
    name,
    run: (cases, seed) => fc.assert(property, { numRuns: cases, ...(seed === undefined ? {} : { seed }) }),
  };
}

const byte = fc.nat(255);
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
/** The lengths of the packets of a stream. */
const packetLengths = fc.array(fc.nat(40), { maxLength: 12 });

/** Returns `valid` with a few bytes changed, removed or inserted. */
function mutated(valid: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const change = fc.record({ at: fc.nat(600), kind: fc.nat(3), value: byte });
  return fc.tuple(valid, fc.array(change, { maxLength: 4 })).map(([original, changes]) => {
    const list = [...original];
    for (const { at, kind, value } of changes) {
      const index = list.length === 0 ? 0 : at % (list.length + 1);
      if (kind === 0) list.splice(index, 1, value);
      else if (kind === 1) list.splice(index, 1);
      else if (kind === 2) list.splice(index, 0, value);
      else list.length = index;
    }
    return Buffer.from(list);
  });
}

/** Yields `whole` in packets of these lengths, and the rest in one packet. */
function* packets(whole: Buffer, lengths: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (const length of lengths) {
    if (length === 0 || at + length >= whole.length) continue;
    yield whole.subarray(at, at + length);
    at += length;
  }
  if (at < whole.length) yield whole.subarray(at);
}

/** Returns the first message that a parser reads from a stream in packets, and the bytes after it. */
function firstMessage(
  parser: { feed(chunk: Buffer): unknown; readonly rest: Buffer | null },
  whole: Buffer,
  lengths: readonly number[],
): { message: unknown; rest: string } {
  let fedBytes = 0;
  for (const packet of packets(whole, lengths)) {
    fedBytes += packet.length;
    const message = parser.feed(packet);
    if (message === null) continue;
    const isError = (message as { kind: string }).kind === 'error';
    const rest = Buffer.concat([parser.rest ?? Buffer.alloc(0), whole.subarray(fedBytes)]);
    // After an error the parser reads no more bytes, so the rest has no meaning.
    return { message: plain(message), rest: isError ? '' : rest.toString('hex') };
  }
  return { message: null, rest: '' };
}

/** Returns a value with buffers as hex, so that views of different packets are compared by their bytes. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      each && typeof each === 'object' && 'type' in each && 'data' in each && each.type === 'Buffer'
        ? Buffer.from(each.data as number[]).toString('hex')
        : each,
    ),
  );
}

const greetingBytes = fc
  .uint8Array({ minLength: 1, maxLength: 10 })
  .map((methods) => Buffer.from([5, methods.length, ...methods]));
const ip4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
const ip6 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const portBytes = fc.uint8Array({ minLength: 2, maxLength: 2 });
const addressField = fc.oneof(
  ip4.map((address) => [1, ...address]),
  ip6.map((address) => [4, ...address]),
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map((name) => [3, name.length, ...name]),
);
const requestBytes = fc
  .tuple(fc.constantFrom(1, 2, 3), addressField, portBytes, bytes(30))
  .map(([command, address, port, after]) => Buffer.from([5, command, 0, ...address, ...port, ...after]));
const loginBytes = fc
  .tuple(
    fc.uint8Array({ minLength: 1, maxLength: 255 }),
    fc.uint8Array({ minLength: 1, maxLength: 255 }),
    bytes(20),
  )
  .map(([username, password, after]) =>
    Buffer.from([1, username.length, ...username, password.length, ...password, ...after]),
  );
const datagramBytes = fc
  .tuple(byte, addressField, portBytes, bytes(30))
  .map(([fragment, address, port, data]) => Buffer.from([0, 0, fragment, ...address, ...port, ...data]));

const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const proxyBytes = fc.oneof(
  fc
    .tuple(fc.constantFrom('TCP4', 'TCP6', 'UNKNOWN'), ip4, ip6, fc.nat(70_000), bytes(20))
    .map(([protocol, four, six, port, after]) => {
      const address = protocol === 'TCP6' ? formatIp(six) : formatIp(four);
      return Buffer.concat([Buffer.from(`PROXY ${protocol} ${address} ${address} ${port} 1080\r\n`), after]);
    }),
  fc
    .tuple(fc.constantFrom(0x20, 0x21), fc.constantFrom(0, 0x11, 0x12, 0x21, 0x31), bytes(60), bytes(20))
    .map(([command, family, body, after]) =>
      Buffer.concat([V2_SIGNATURE, Buffer.from([command, family, 0, body.length]), body, after]),
    ),
);

const anyOf = (valid: fc.Arbitrary<Buffer>) => fc.oneof(bytes(80), mutated(valid), valid);

const number = fc.oneof(
  fc.nat(300).map(String),
  fc.nat(0xffff_ffff).map(String),
  fc.nat(0xffff_ffff).map((value) => `0x${value.toString(16)}`),
  fc.nat(0xffff_ffff).map((value) => `0${value.toString(8)}`),
);
/** Texts that look like addresses and names, and others. */
const hostText = fc.oneof(
  fc.array(number, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.')),
  ip4.map((address) => formatIp(address)),
  ip6.map((address) => formatIp(address)),
  ip4.map((address) => `::ffff:${formatIp(address)}`),
  fc.stringMatching(/^[a-zA-Z0-9x._:[\]%*/-]{0,30}$/),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const separator = fc.constantFrom(',', '，', '\n', '\r\n', ' ', ';', ', ');
const listText = fc
  .array(
    fc.tuple(
      fc.oneof(
        hostText,
        hostText.map((host) => `${host}*`),
        hostText.map((host) => `${host}/24`),
      ),
      separator,
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.flat().join(''));
const portText = fc.oneof(
  fc.constant(''),
  fc.nat(70_000).map((port) => `:${port}`),
  fc.tuple(fc.nat(70_000), fc.nat(70_000)).map(([a, b]) => `:${a}-${b}`),
);

const two = fc.nat(99).map((value) => String(value).padStart(2, '0'));
const dateText = fc.oneof(
  fc
    .tuple(
      fc.nat(9999),
      two,
      two,
      two,
      two,
      two,
      fc.constantFrom('', 'Z', '+08:00', '-0330', '+08', '.5', '.123Z', 'z', '+24:00'),
    )
    .map(
      ([year, month, day, hour, minute, second, tail]) =>
        `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}${tail}`,
    ),
  fc
    .tuple(fc.nat(9999), two, two)
    .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${month}-${day}`),
  fc.stringMatching(/^[0-9TZ:+. -]{0,25}$/),
  fc.string({ maxLength: 25 }),
);

const guarded = createEgressPolicy({ private: 'deny', allow: [], deny: [], isOwnListener: () => false });

export const fuzzTargets: readonly FuzzTarget[] = [
  target(
    'a greeting is the same message in packets of any length',
    [anyOf(greetingBytes), packetLengths],
    (whole, lengths) => {
      assert.deepEqual(
        firstMessage(new SocksParser(), whole, lengths),
        firstMessage(new SocksParser(), whole, []),
      );
    },
  ),

  target(
    'a request is the same message in packets of any length',
    [anyOf(requestBytes), packetLengths],
    (whole, lengths) => {
      const newParser = (): SocksParser => {
        const parser = new SocksParser();
        parser.feed(Buffer.from([5, 1, 2]));
        parser.expectRequest();
        return parser;
      };
      const read = firstMessage(newParser(), whole, lengths);
      assert.deepEqual(read, firstMessage(newParser(), whole, []));
      const message = read.message as { kind: string; addressType?: number } | null;
      if (message?.kind === 'request') assert.ok([1, 3, 4].includes(message.addressType ?? 0));
    },
  ),

  target(
    'a login is the same message in packets of any length',
    [anyOf(loginBytes), packetLengths],
    (whole, lengths) => {
      const read = firstMessage(new LoginParser(), whole, lengths);
      assert.deepEqual(read, firstMessage(new LoginParser(), whole, []));
      const parser = new LoginParser();
      const message = parser.feed(whole);
      if (message?.kind !== 'login') return;
      const { username, password } = message;
      assert.equal(whole[1], username.length);
      assert.equal(3 + username.length + password.length + (parser.rest?.length ?? 0), whole.length);
    },
  ),

  target(
    'a datagram header ends within its datagram, and is written as it was read',
    [anyOf(datagramBytes)],
    (datagram) => {
      const header = readDatagramHeader(datagram);
      const key = headerKey(datagram);
      if (header === null) return;
      assert.ok(header.length <= datagram.length && header.length === headerLengthOf(datagram));
      assert.ok(header.port >= 1 && header.port <= 65_535 && header.address.length > 0);
      // Datagrams with a shorter header have no key.
      if (header.fragment === 0 && datagram.length >= 10) assert.notEqual(key, null);
      if (header.fragment !== 0 || header.addressType === 3) return;
      const written = writeDatagramHeader(header.address, header.port);
      if (unmap(header.address).length === header.address.length) {
        assert.ok(written.equals(datagram.subarray(0, header.length)));
      }
    },
  ),

  target(
    'a PROXY header does not depend on how many bytes follow it',
    [anyOf(proxyBytes), fc.nat(120)],
    (whole, cut) => {
      const all = parseProxyHeader(whole);
      const part = parseProxyHeader(whole.subarray(0, cut));
      if (part.kind === 'malformed') assert.equal(all.kind, 'malformed');
      if (part.kind === 'header') assert.deepEqual(all, part);
      if (all.kind === 'header') {
        assert.ok(all.length <= whole.length);
        assert.equal(parseProxyHeader(whole.subarray(0, all.length - 1)).kind, 'more');
        if (all.client) assert.ok(isIP(all.client.address) !== 0 && all.client.port <= 65_535);
      }
    },
  ),

  target(
    'a whitelist is read or refused, and allows only its addresses',
    [listText, hostText],
    (text, client) => {
      const read = parseWhitelist(text);
      if (!read.ok) return;
      const allowed = read.whitelist.allows(client);
      assert.equal(typeof allowed, 'boolean');
      // Only an empty list and a star allow a text that is not an address.
      if (allowed && isIP(client) === 0)
        assert.ok(text.trim().replace(/[,，\s]/g, '') === '' || text.includes('*'));
    },
  ),

  target(
    'an egress entry is read or refused, and an address matches the entry with its text',
    [hostText, portText, ip4, ip6],
    (host, port, four, six) => {
      const entry = parseEgressEntry(host + port);
      const [first, last] = entry?.ports ?? [1, 1];
      assert.ok(first >= 1 && first <= last && last <= 65_535);
      for (const ip of [four, six]) {
        const ipEntry = parseEgressEntry(formatIp(ip));
        assert.ok(ipEntry?.target && 'bytes' in ipEntry.target && inCidr(unmap(ip), ipEntry.target));
      }
    },
  ),

  target('no form of an address is accepted as a name', [hostText], (text) => {
    const checked = checkDestinationName(Buffer.from(text), { allowUnderscore: true });
    if (!checked.ok) return;
    if ('ip' in checked) {
      // The functions of the operating system must accept it too.
      assert.notEqual(isIP(text.replace(/^\[(.*)\]$/, '$1')), 0);
      return;
    }
    assert.match(checked.name, /^[a-z0-9_.-]+$/);
    // WHATWG URL §3.5 accepts more forms of IPv4 addresses than any other parser.
    const url = URL.canParse(`http://${checked.name}/`) ? new URL(`http://${checked.name}/`) : null;
    assert.equal(isIP(url?.hostname ?? ''), 0, `${text} is ${url?.hostname}`);
  }),

  target(
    'an IPv4 address has the same verdict in every IPv6 address that contains it',
    [ip4, fc.integer({ min: 1, max: 65_535 })],
    (four, port) => {
      const plainVerdict = guarded.judge({ host: null, ip: four, port }).ok;
      const mapped = Buffer.from([...new Array<number>(10).fill(0), 0xff, 0xff, ...four]);
      assert.equal(guarded.judge({ host: null, ip: mapped, port }).ok, plainVerdict);
      if (plainVerdict) return;
      const nat64 = Buffer.from([0, 0x64, 0xff, 0x9b, ...new Array<number>(8).fill(0), ...four]);
      const sixToFour = Buffer.from([0x20, 0x02, ...four, ...new Array<number>(10).fill(0)]);
      for (const ip of [nat64, sixToFour]) assert.equal(guarded.judge({ host: null, ip, port }).ok, false);
    },
  ),

  target('addresses are read as by Node, and an address is in its block', [hostText], (text) => {
    const ip = parseIp(text);
    if (ip === null) assert.ok(isIP(text) === 0, text);
    else {
      assert.equal(isIP(text.replace(/%.*/, '')), ip.length === 4 ? 4 : 6, text);
      assert.deepEqual(parseIp(formatIp(ip)), ip);
    }
    const block = parseCidr(text);
    if (block) assert.ok(inCidr(block.bytes, block));
  }),

  target('a date is read as the same date that is written, or refused', [dateText], (text) => {
    const ms = parseWireDate(text);
    if (ms === null) return;
    assert.ok(Number.isInteger(ms / 1000));
    assert.equal(parseWireDate(formatWireDate(ms)), ms);
    // Date.parse must agree on the formats that it knows, with a time zone in full.
    const zoned = text.includes('T') && !/(Z|[+-]\d\d(:?\d\d)?)$/.test(text) ? `${text}Z` : text;
    const full = zoned.replace(
      /(T.*[+-]\d\d):?(\d\d)?$/,
      (_, head: string, minutes = '00') => `${head}:${minutes}`,
    );
    const nodeMs = Date.parse(full);
    if (!Number.isNaN(nodeMs)) assert.equal(ms, Math.floor(nodeMs / 1000) * 1000, text);
  }),
];
