// Files as people and spreadsheets write them: four encodings, Chinese headings, dates in the time zone of the author.
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCsv, writeCsv } from '../../src/account-files/csv.js';
import { decodeText, type FileEncoding } from '../../src/account-files/file-text.js';
import { parseFileDate } from '../../src/account-files/record.js';
import { allRecords, inChunks } from '../helpers/file-records.js';
import { encodeGbk } from '../helpers/gbk.js';

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const ENCODERS: readonly (readonly [string, FileEncoding, (text: string) => Buffer])[] = [
  ['UTF-8', 'utf-8', (text) => Buffer.from(text)],
  ['UTF-8 with a byte order mark', 'utf-8', (text) => Buffer.from(`\ufeff${text}`)],
  ['GBK', 'gb18030', encodeGbk],
  ['UTF-16 LE with a byte order mark', 'utf-16le', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 BE with a byte order mark', 'utf-16be', (text) => utf16be(`\ufeff${text}`)],
  ['UTF-16 LE', 'utf-16le', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16 BE', 'utf-16be', utf16be],
];

async function decoded(bytes: Buffer, size: number): Promise<[string, FileEncoding | undefined]> {
  let text = '';
  let found: FileEncoding | undefined;
  const onEncoding = (encoding: FileEncoding) => {
    found = encoding;
  };
  for await (const part of decodeText(inChunks(bytes, size), { onEncoding })) text += part;
  return [text, found];
}

describe('the encoding of a file', () => {
  const text = `用户名,密码,备注\r\n${'player,secret,\r\n'.repeat(200)}玩家一,秘密,微信 wx_1（张三）\r\n`;
  for (const [name, encoding, encode] of ENCODERS) {
    it(`is detected: ${name}`, async () => {
      for (const size of [1, 7, 64 * 1024])
        assert.deepEqual(await decoded(encode(text), size), [text, encoding], `${size} bytes at a time`);
    });
  }

  it('loses no byte, wherever the first non-ASCII byte is', async () => {
    const chars = fc.constantFrom('a', '\n', ',', '模', '一', '张', '；');
    await fc.assert(
      fc.asyncProperty(
        fc.array(chars, { maxLength: 700 }),
        fc.integer({ min: 1, max: 400 }),
        async (list, size) => {
          const [text] = await decoded(Buffer.from(list.join('')), size);
          assert.equal(text, list.join(''));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is detected in a file that is longer than the examined beginning', async () => {
    const long = `username,remarks\n${'张三,李四\n'.repeat(20_000)}`;
    assert.deepEqual(await decoded(encodeGbk(long), 64 * 1024), [long, 'gb18030']);
    assert.deepEqual(await decoded(Buffer.from(long), 64 * 1024), [long, 'utf-8']);
  });

  it('can be specified; invalid bytes are reported', async () => {
    const input = () => inChunks(encodeGbk('username,password\n张三,x\n'), 100);
    const [record] = await allRecords(readCsv(input(), { encoding: 'gb18030' }));
    assert.ok(record && 'account' in record && record.account.username === '张三');
    const [fault] = await allRecords(readCsv(input(), { encoding: 'utf-8' }));
    assert.ok(fault && 'fault' in fault);
    assert.deepEqual(fault.fault, { code: 'encoding', values: { encoding: 'utf-8' } });
  });
});

const read = (content: string, zone?: string) =>
  allRecords(readCsv(inChunks(Buffer.from(content), 50), { zone }));

describe('the headings of a sheet', () => {
  for (const content of [
    '用户名,密码,备注,到期时间,是否启用\nplayer,=secret,张三,2026/12/31,否\n',
    '账号\t登录密码\t说明\t有效期至\t状态\nplayer\t=secret\t张三\t2026-12-31\t停用\n',
    '"User Name";PASSWORD;remarks;expires-at;isEnabled\nplayer;=secret;张三;2026-12-31;no\n',
    '用户名（必填）,密码,备注,到期日期（北京时间）,启用\nplayer,=secret,张三,2026年12月31日,关\n',
  ]) {
    it(`are recognised: ${content.split('\n')[0]}`, async () => {
      const [record] = await read(content, 'Asia/Shanghai');
      assert.ok(record && 'account' in record, JSON.stringify(record));
      const { username, password, remarks, expiresAt, isEnabled } = record.account;
      assert.deepEqual(
        [username, password, remarks, expiresAt, isEnabled],
        ['player', '=secret', '张三', Date.UTC(2026, 11, 30, 16), false],
      );
    });
  }

  it('are reported once, with the headings found, if none is a user name', async () => {
    const records = await read('name,pw\na,b\nc,d\n');
    assert.deepEqual(records, [
      {
        line: 1,
        username: null,
        fault: { code: 'no-heading', values: { found: '"name", "pw"' } },
      },
    ]);
  });
});

describe('a date in a file', () => {
  const shanghai = (day: number, hour: number, minute = 0, second = 0) =>
    Date.UTC(2026, 11, day, hour - 8, minute, second);
  const cases: readonly (readonly [string, string, number | null])[] = [
    ['2026/12/31', 'Asia/Shanghai', shanghai(31, 0)],
    ['2026-12-31', 'Asia/Shanghai', shanghai(31, 0)],
    ['2026/12/5 8:03', 'Asia/Shanghai', shanghai(5, 8, 3)],
    ['2026-12-31 23:59', 'Asia/Shanghai', shanghai(31, 23, 59)],
    ['2026-12-31 23:59:58', 'Asia/Shanghai', shanghai(31, 23, 59, 58)],
    ['2026.12.31', 'Asia/Shanghai', shanghai(31, 0)],
    ['2026年12月31日 23：59', 'Asia/Shanghai', shanghai(31, 23, 59)],
    ['2026-12-31 23:59', 'UTC', Date.UTC(2026, 11, 31, 23, 59)],
    // The format of files that Pulsegate exports.
    ['2026-12-31T23:59:59', 'Asia/Shanghai', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['2026-12-31T23:59:59+08:00', 'UTC', shanghai(31, 23, 59, 59)],
    // Summer time: the night in which an hour occurs twice, and the night in which it is skipped.
    ['2026-10-25 02:30', 'Europe/Berlin', Date.UTC(2026, 9, 25, 0, 30)],
    ['2026-03-29 02:30', 'Europe/Berlin', Date.UTC(2026, 2, 29, 1, 30)],
    ['2026-07-01', 'Europe/Berlin', Date.UTC(2026, 5, 30, 22)],
    ['2026/2/30', 'UTC', null],
    ['2026/12/31 24:00', 'UTC', null],
    ['12/31/2026', 'UTC', null],
    ['tomorrow', 'UTC', null],
  ];
  for (const [text, zone, at] of cases) {
    it(`is parsed: ${text} in ${zone}`, () => assert.equal(parseFileDate(text, zone), at));
  }
});

it('a CSV file is written with a byte order mark', async () => {
  assert.deepEqual(
    [...(await buffer(writeCsv([], { withHashes: false }))).subarray(0, 4)],
    [0xef, 0xbb, 0xbf, 0x22],
  );
});
