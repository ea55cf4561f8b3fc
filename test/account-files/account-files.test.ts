// Accounts in files: what is written is read again unchanged, what is wrong is told with its line, nothing runs in a spreadsheet.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { readCsv, writeCsv } from '../../src/account-files/csv.js';
import { readJson, writeJson } from '../../src/account-files/json.js';
import type { FileRecord } from '../../src/account-files/record.js';
import { isValidUsername } from '../../src/core/account.js';
import { type AccountView, isValidRemarks } from '../../src/core/accounts.js';
import { hashPassword } from '../../src/core/password.js';

const FORMATS = {
  csv: { read: readCsv, write: writeCsv },
  json: { read: readJson, write: writeJson },
} as const;

/** In chunks of a few bytes, as a slow disk might give them. */
function inPieces(content: string, size = 7): Readable {
  const bytes = Buffer.from(content);
  return Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    ),
    { objectMode: false },
  );
}

async function all(records: AsyncIterable<FileRecord>): Promise<FileRecord[]> {
  const list: FileRecord[] = [];
  for await (const record of records) list.push(record);
  return list;
}

const faults = (records: readonly FileRecord[]) =>
  records.flatMap((record) => ('fault' in record ? [`${record.line}: ${record.fault}`] : []));

const second = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1000);
const hash = hashPassword('secret');
const tricky = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .tuple(fc.stringMatching(/^'{0,3}[=+\-@\t\r]?$/), fc.string({ maxLength: 5 }))
    .map((parts) => parts.join('')),
  fc.constantFrom('=cmd()', "'=x", '"', ',', '\r\n', ' lead', 'trail ', 'null', '😀'),
);
const viewOf: fc.Arbitrary<AccountView> = fc
  .record({
    username: tricky.filter(isValidUsername),
    isEnabled: fc.boolean(),
    remarks: fc.option(tricky.filter((value) => isValidRemarks(value) && value !== '')),
    createdAt: second,
    expiresAt: fc.option(second),
    lastLoginAt: fc.option(second),
  })
  .map((account) => ({
    account: { ...account, id: randomUUID(), passwordHash: hash },
    dataCount: 3,
    latestGameId: '=HYPERLINK("x")',
  }));

for (const [name, { read, write }] of Object.entries(FORMATS)) {
  describe(`${name} files`, () => {
    it('bring back exactly what was written', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(viewOf, { maxLength: 5 }), async (views) => {
          const content = await text(write(views, { withHashes: true }));
          const back = (await all(read(inPieces(content)))).map((record) =>
            'account' in record ? record.account : record,
          );
          assert.deepEqual(
            back,
            views.map(
              ({ account: { id, username, isEnabled, remarks, createdAt, expiresAt, passwordHash } }) => ({
                username,
                id,
                password: undefined,
                passwordHash,
                isEnabled,
                remarks,
                createdAt,
                expiresAt,
              }),
            ),
          );
        }),
        { numRuns: 200 },
      );
    });

    it('hold hashes only when asked for', async () => {
      const [view] = fc.sample(viewOf, 1);
      assert.ok(view);
      assert.doesNotMatch(await text(write([view], { withHashes: false })), /sha256|passwordHash/);
    });

    it('may be empty', async () => {
      assert.deepEqual(await all(read(inPieces(await text(write([], { withHashes: true }))))), []);
    });
  });
}

describe('a CSV file', () => {
  it('has no cell that a spreadsheet would run', async () => {
    await fc.assert(
      fc.asyncProperty(viewOf, async (view) => {
        const rows = parse(await text(writeCsv([view], { withHashes: true })), {
          relax_column_count: true,
        }) as string[][];
        for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+\-@\t\r]/);
      }),
      { numRuns: 300 },
    );
  });

  it('tells the line of each fault and reads on', async () => {
    const content = [
      'Username,Password,IsEnabled,Remarks,ExpiresAt,PasswordHash',
      'good,pw,true,,,',
      ',pw,true,,,',
      'bad\u0001,pw,,,,',
      'flag,pw,maybe,,,',
      'date,pw,,,31.12.2026,',
      'hash,,,,,123',
      `both,pw,,,,${'a'.repeat(64)}`,
      '"multi',
      'line",pw,,,,',
      `${'x'.repeat(256)},pw,,,,`,
      'late,pw,no,notes,2026-12-31,',
    ].join('\n');
    const records = await all(readCsv(inPieces(content)));
    assert.deepEqual(
      faults(records).map((fault) => fault.split(':')[0]),
      ['3', '4', '5', '6', '7', '8', '10', '11'],
    );
    assert.deepEqual(
      records.flatMap((record) => ('account' in record ? [record.account.username] : [])),
      ['good', 'late'],
    );
  });

  it('keeps a password that looks like a formula', async () => {
    const [record] = await all(readCsv(inPieces("username,password\na,'=x\n")));
    assert.ok(record && 'account' in record);
    assert.equal(record.account.password, "'=x");
  });

  for (const content of [
    'username,password\n"a,b',
    'username,password\na"b",c',
    `username\n${'x'.repeat(70_000)}`,
  ]) {
    it(`ends with a fault: ${JSON.stringify(content.slice(0, 30))}`, async () => {
      assert.match(
        faults(await all(readCsv(inPieces(content, 1000)))).join(),
        /not valid CSV; nothing after it was read/,
      );
    });
  }
});

describe('a JSON file', () => {
  const wrong: readonly (readonly [content: string, fault: RegExp])[] = [
    ['', /1: the JSON array does not end/],
    ['{}', /1: this is not a JSON array of objects/],
    ['[{"username":"a","password":"hunter2"', /does not end/],
    ['[{"username":"a" "password":"hunter2"}]', /this is not valid JSON/],
    ['[1]', /not a JSON array of objects/],
    ['[\n\n{"password":"x"}]', /^3: there is no user name/],
    ['[{"username":5}]', /there is no user name/],
    ['[{"username":"a","isEnabled":"perhaps"}]', /isEnabled/],
    ['[{"username":"a","password":5}]', /a password is a text/],
    ['[{"username":"a","id":"x"}]', /id is not a GUID/],
    ['[{"username":"a","remarks":["x"]}]', /remarks/],
    ['[{"username":"a","expiresAt":5}]', /a date is not of the form/],
    ['[{}] trailing', /not a JSON array of objects/],
    [`[{"username":"${'x'.repeat(70_000)}"}]`, /longer than 64 KiB/],
    ['[{"__proto__":{"username":"a"}}]', /there is no user name/],
  ];
  for (const [content, fault] of wrong) {
    it(content.slice(0, 40), async () => {
      const found = faults(await all(readJson(inPieces(content, 1000)))).join('\n');
      assert.match(found, fault);
      assert.doesNotMatch(found, /hunter2/);
    });
  }

  it('is read as JSON.parse would', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), { maxLength: 4 }),
        fc.nat(4),
        async (list, indent) => {
          const content = JSON.stringify(list, null, indent);
          assert.equal((await all(readJson(inPieces(content, 3)))).length, list.length);
        },
      ),
      { numRuns: 200 },
    );
  });
});
