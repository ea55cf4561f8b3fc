// The Basic Authorization header: valid and refused values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseBasic } from '../../../src/http/guards/authenticate.js';
import { scaled } from '../../helpers/scale.js';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const basic = (text: string | Uint8Array) => `Basic ${base64(text)}`;

const READ: [string, string, string][] = [
  [basic('admin:secret'), 'admin', 'secret'],
  ['Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'], // RFC 7617 §2
  ['Basic dGVzdDoxMjPCow==', 'test', '123£'], // RFC 7617 §2.1
  [`basic ${base64('admin:secret')}`, 'admin', 'secret'],
  [`BASIC ${base64('admin:secret')}`, 'admin', 'secret'],
  [`bAsIc   ${base64('admin:secret')}`, 'admin', 'secret'],
  [basic('admin:a:b::c:'), 'admin', 'a:b::c:'],
  [basic('admin:'), 'admin', ''],
  [basic(':secret'), '', 'secret'],
  [basic(':'), '', ''],
  [basic('管理员:密码🔑'), '管理员', '密码🔑'],
  [basic('\ufeffadmin:x'), '\ufeffadmin', 'x'],
  [basic(' admin : secret '), ' admin ', ' secret '],
];
for (const [header, username, password] of READ) {
  test(`${header} is read as ${username}:${password}`, () =>
    assert.deepEqual(parseBasic(header), { username, password }));
}

const REFUSED = [
  undefined,
  ...[
    '',
    ' ',
    'Basic',
    'Basic ',
    'Basic  ',
    base64('admin:secret'),
    `Bearer ${base64('admin:secret')}`,
    `Basic\t${base64('a:b')}`,
    `Basic${base64('a:b')}`,
  ],
  ...[
    ` ${basic('a:b')}`,
    `${basic('a:b')} `,
    `${basic('a:b')}\n`,
    `Basic ${base64('a:b')} x`,
    `${basic('a:b')}, ${basic('a:b')}`,
    `XBasic ${base64('a:b')}`,
  ],
  ...[
    basic('admin'),
    basic('no colon here'),
    'Basic admin:secret',
    'Basic YTpi=',
    'Basic YTpi==',
    'Basic YTpiYw',
    'Basic YTpiYw=',
    'Basic YTpiYw===',
  ],
  ...[
    'Basic YTpiYx==',
    'Basic YTpi\nYTpi',
    'Basic YT pi',
    'Basic Y',
    'Basic =',
    'Basic ====',
    'Basic YT==pi',
    'Basic YTo_Pw==',
    'Basic YTo-Pw==',
    'Basic "YTpi"',
  ],
  ...[
    basic(Uint8Array.of(0x61, 0x3a, 0xff)),
    basic(Uint8Array.of(0xff, 0x3a, 0x61)),
    basic(Uint8Array.of(0x61, 0x3a, 0xc0, 0xaf)),
    basic(Uint8Array.of(0x61, 0x3a, 0xed, 0xa0, 0x80)),
  ],
  ...['Digest username="a"', 'Negotiate abc', 'Basic realm="x"', 'ＢＡＳＩＣ YTpi'],
];
for (const header of REFUSED) {
  test(`${JSON.stringify(header)} is refused`, () => assert.equal(parseBasic(header), null));
}

test('encoded credentials are decoded unchanged, and no header causes an exception', () => {
  const part = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(part, part, fc.string(), (name, password, other) => {
      const username = name.replaceAll(':', '');
      assert.deepEqual(parseBasic(basic(`${username}:${password}`)), { username, password });
      parseBasic(other);
      parseBasic(`Basic ${other}`);
    }),
    { numRuns: scaled(500) },
  );
});
