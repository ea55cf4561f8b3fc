// Files of accounts: reading a written file gives the same accounts, errors name their line, and no cell becomes a formula.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { readCcproxy, writeCcproxy } from '../../src/account-files/ccproxy.js';
import { readCsv, writeCsv } from '../../src/account-files/csv.js';
import { readJson, writeJson } from '../../src/account-files/json.js';
import { type FileView, reasonText } from '../../src/account-files/reasons.js';
import type { FileRecord } from '../../src/account-files/record.js';
import { hashPassword } from '../../src/core/accounts/access/password.js';
import { isValidUsername } from '../../src/core/accounts/account.js';
import type { AccountView } from '../../src/core/accounts/account-query.js';
import { fieldsOf, INITIAL_FIELDS, isValidRemarks } from '../../src/core/accounts/fields/account-fields.js';
import {
  CONTACT_LANGUAGES,
  isValidTag,
  MAX_TAGS,
  uniqueTags,
} from '../../src/core/accounts/fields/contacts.js';
import { isPlanName } from '../../src/core/accounts/plans/plans.js';
import { NO_LIMITS, QUOTA_PERIODS } from '../../src/core/accounts/usage/limits.js';
import { account as someAccount } from '../helpers/account.js';
import { allRecords, inChunks } from '../helpers/file-records.js';
import { needs } from '../helpers/programs.js';
import { scaled } from '../helpers/scale.js';

const FORMATS = {
  csv: { read: readCsv, write: writeCsv },
  json: { read: readJson, write: writeJson },
} as const;

const faults = (records: readonly FileRecord[]) =>
  records.flatMap((record) => ('fault' in record ? [`${record.line}: ${reasonText(record.fault)}`] : []));

/** In each format, and of JSON that others wrote. */
const RANDOM_FILES = scaled(80);
const RANDOM_TEXTS = scaled(3_000);

const second = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1000);
const hash = hashPassword('secret');
const trickyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .tuple(fc.stringMatching(/^'{0,3}[=+\-@\t\r]?$/), fc.string({ maxLength: 5 }))
    .map((parts) => parts.join('')),
  fc.constantFrom('=cmd()', "'=x", '"', ',', '\r\n', ' lead', 'trail ', 'null', '😀'),
);
const accountView: fc.Arbitrary<AccountView> = fc
  .record({
    username: trickyText.filter(isValidUsername),
    isEnabled: fc.boolean(),
    remarks: fc.option(trickyText.filter((value) => isValidRemarks(value) && value !== '')),
    tags: fc.array(trickyText.filter(isValidTag), { maxLength: MAX_TAGS }).map(uniqueTags),
    createdAt: second,
    expiresAt: fc.option(second),
    lastLoginAt: fc.option(second),
    daysFromFirstLogin: fc.option(fc.integer({ min: 1, max: 36_500 })),
    plan: fc.option(trickyText.filter(isPlanName)),
    authorizedAddresses: fc.array(fc.constantFrom('203.0.113.7', '2001:db8::/48', '::1'), { maxLength: 2 }),
    allowedClients: fc.array(fc.constantFrom('198.51.100.0/24', '0.0.0.0/0', '::1'), { maxLength: 2 }),
    schedule: fc.option(fc.constantFrom('mon-fri 08:00-23:00', 'sat,sun 00:00-24:00; fri 22:00-02:00')),
    exit: fc.option(fc.constantFrom('jp', 'a.b-c_1')),
    contacts: fc.record(
      {
        email: fc.option(fc.constantFrom('a@example.com', '+b=c@例子.测试')),
        telegram: fc.option(fc.constantFrom('-1001234', '42', '@channel')),
        language: fc.option(fc.constantFrom(...CONTACT_LANGUAGES)),
      },
      { noNullPrototype: true },
    ),
  })
  .map((account) => ({
    account: {
      ...INITIAL_FIELDS,
      ...account,
      id: randomUUID(),
      passwordHash: hash,
      passwordVersion: 0,
      link: { hash: hashPassword('link'), createdAt: 0 },
      limits: NO_LIMITS,
      quotaReset: null,
    },
    dataCount: 3,
    latestGameId: '=HYPERLINK("x")',
  }));

const bytes = fc.integer({ min: 0, max: 2 ** 40 });
const viewOf: fc.Arbitrary<FileView> = fc
  .record({
    view: accountView,
    limits: fc.record({
      limits: fc.record({
        maxSessions: fc.option(fc.integer({ min: 1, max: 100 })),
        maxClientAddresses: fc.option(fc.integer({ min: 1, max: 100 })),
        bytesPerSecondUp: fc.option(fc.integer({ min: 1, max: 2 ** 40 })),
        bytesPerSecondDown: fc.constant(null),
        quotaBytes: fc.option(fc.integer({ min: 1, max: 2 ** 50 })),
        quotaPeriod: fc.constantFrom(...QUOTA_PERIODS),
        egressClass: fc.option(fc.constantFrom('friends', 'a.b-c')),
        connectionsPerSecond: fc.option(fc.constant(0)),
        connectionsPerMinute: fc.option(fc.integer({ min: 0, max: 10_000_000 })),
        destinationsPerMinute: fc.option(fc.constant(0)),
        udpDestinationsPerSecond: fc.option(fc.integer({ min: 0, max: 10_000_000 })),
        failedConnectionsPerMinute: fc.option(fc.constant(10_000_000)),
        lookupsPerMinute: fc.constant(null),
        maxConnections: fc.option(fc.integer({ min: 0, max: 9 })),
      }),
      used: fc.tuple(bytes, bytes),
    }),
  })
  .map(({ view, limits: { limits, used } }) => ({
    view: { ...view, account: { ...view.account, limits } },
    usage: { periodBytes: used[0], totalBytesUp: used[0], totalBytesDown: used[1] },
  }));

for (const [name, { read, write }] of Object.entries(FORMATS)) {
  describe(`${name} files`, () => {
    it('are read exactly as they were written', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(viewOf, { maxLength: 5 }), async (views) => {
          const content = await text(write(views, { withHashes: true }));
          const back = (await allRecords(read(inChunks(content)))).map((record) =>
            'account' in record ? record.account : record,
          );
          assert.deepEqual(
            back,
            views.map(({ view: { account }, usage }) => {
              const { owner: _, suspendedUntil: __, suspendReason: ___, ...fields } = fieldsOf(account);
              const { username, limits, contacts, id, passwordHash, link, createdAt } = account;
              return {
                ...fields,
                username,
                limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
                contacts,
                usage,
                id,
                password: undefined,
                passwordHash,
                linkHash: link?.hash,
                plan: fields.plan ?? undefined,
                daysFromFirstLogin: fields.daysFromFirstLogin ?? undefined,
                createdAt,
              };
            }),
          );
        }),
        { numRuns: RANDOM_FILES },
      );
    });

    it('contain password hashes only if they are requested', async () => {
      const [view] = fc.sample(viewOf, 1);
      assert.ok(view);
      assert.doesNotMatch(await text(write([view], { withHashes: false })), /sha256|Hash/);
    });

    it('report the error when writing or reading fails', async () => {
      const views = function* (): Generator<FileView> {
        yield* fc.sample(viewOf, 1);
        throw new Error('no more');
      };
      await assert.rejects(text(write(views(), { withHashes: true })), /no more/);
      const input = new Readable({ read() {} });
      const reading = allRecords(read(input));
      input.destroy(new Error('the disk is gone'));
      await assert.rejects(reading, /the disk is gone/);
    });

    it('may contain no accounts', async () => {
      assert.deepEqual(await allRecords(read(inChunks(await text(write([], { withHashes: true }))))), []);
    });
  });
}

function plainView(username: string, remarks: string): FileView {
  const account = someAccount({ username, passwordHash: hash, remarks, createdAt: 0 });
  const usage = { periodBytes: 0, totalBytesUp: 0, totalBytesDown: 0 };
  return { view: { account, dataCount: 7, latestGameId: null }, usage };
}

/** Parses exactly the grammar of RFC 4180 §2: quoted or plain fields, and rows that end with CRLF. */
function readRfc4180(content: string): string[][] {
  const rows: string[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;
  while (field.lastIndex < content.length) {
    const at = field.lastIndex;
    const found = field.exec(content);
    assert.ok(found, `no field at ${JSON.stringify(content.slice(at, at + 50))}`);
    const [, quoted, plain = '', end] = found;
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  assert.deepEqual(rows.pop(), [], 'the last row ends with CRLF');
  return rows;
}

describe('a CSV file', () => {
  it(`follows RFC 4180, contains no formula, and is read back unchanged, for ${RANDOM_TEXTS} random texts`, async () => {
    const part = fc.oneof(
      fc.constantFrom(...'=+-@＝＋－＠\'",;|:\t\r\n \u00a0\u2028x0', '\r\n', '""', "'=", ';=', '\ufeff'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const texts = fc
      .sample(fc.array(part, { minLength: 1, maxLength: 8 }), { numRuns: RANDOM_TEXTS, seed: 4180 })
      .map((parts) => parts.join(''))
      .map((each) => (isValidRemarks(each) && each !== '' ? each : 'x'));
    const views = texts.map((remarks, n) => plainView(`player${n}`, remarks));
    const content = await text(writeCsv(views, { withHashes: true }));

    const rows = readRfc4180(content);
    assert.equal(rows.length, texts.length + 1);
    assert.ok(rows.every((row) => row.length === rows[0]?.length));
    // No cell begins like a formula, whatever the separator is and whether a program interprets quotes or not.
    assert.doesNotMatch(content, /(?:^|[,;|\s])(?:["']*")?[=+\-@＝＋－＠]/u);

    const back = await allRecords(readCsv(inChunks(content, 65_536)));
    for (const [n, record] of back.entries()) {
      assert.ok('account' in record);
      assert.equal(record.account.remarks, texts[n]);
    }
    assert.equal(back.length, texts.length);
  });

  it('quotes every text and no number', async () => {
    const content = await text(writeCsv([plainView('player', 'a\rb')], { withHashes: false }));
    const [head = '', row = ''] = content.split('\r\n');
    assert.match(head, /^"username","isEnabled","remarks",/);
    assert.match(row, /^"player","true","a\rb","1970-01-01T00:00:00",,"[0-9a-f-]{36}",,7,/);
  });

  it('opens in LibreOffice without a formula', needs('soffice'), async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-office-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const texts = ['=1+1', 'a;=1+1', 'a\t=1+1', ' =1+1', '"=1+1', 'a\n=1+1', "it's; '+1", 'plain'];
    const views = texts.map((remarks, n) => plainView(`player${n}`, remarks));
    const file = join(folder, 'accounts.csv');
    await writeFile(file, await text(writeCsv(views, { withHashes: false })));
    // First with the comma as the only separator; then with every separator of the import dialog, and with formulas evaluated.
    for (const separators of ['44', '44/59/9/32/124']) {
      const options = `CSV:${separators},34,76,1,,0,false,true,false,false,false,-1,true`;
      await promisify(execFile)(
        'soffice',
        [
          `-env:UserInstallation=file://${folder}/profile`,
          ...['--headless', '--convert-to', 'fods', '--outdir', folder, `--infilter=${options}`, file],
        ],
        { timeout: 60_000 },
      );
      const sheet = await readFile(join(folder, 'accounts.fods'), 'utf8');
      assert.match(sheet, /player7/);
      assert.doesNotMatch(sheet, /table:formula=/);
    }
  });

  it('reports each error with its line and continues', async () => {
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
    const records = await allRecords(readCsv(inChunks(content)));
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
    const [record] = await allRecords(readCsv(inChunks("username,password\na,'=x\n")));
    assert.ok(record && 'account' in record);
    assert.equal(record.account.password, "'=x");
  });

  for (const content of [
    'username,password\n"a,b',
    'username,password\na"b",c',
    `username\n${'x'.repeat(70_000)}`,
  ]) {
    it(`ends with an error when it is not valid CSV: ${JSON.stringify(content.slice(0, 30))}`, async () => {
      assert.match(
        faults(await allRecords(readCsv(inChunks(content, 1000)))).join(),
        /invalid CSV; nothing after this line was read/,
      );
    });
  }
});

describe('a JSON file', () => {
  const faultyFiles: readonly (readonly [content: string, fault: RegExp])[] = [
    ['', /1: the JSON array is not closed/],
    ['{}', /1: not a JSON array of objects/],
    ['[{"username":"a","password":"hunter2"', /is not closed/],
    ['[{"username":"a" "password":"hunter2"}]', /invalid JSON/],
    ['[1]', /not a JSON array of objects/],
    ['[\n\n{"password":"x"}]', /^3: the user name is missing/],
    ['[{"username":5}]', /the user name is missing/],
    ['[{"username":"a","isEnabled":"perhaps"}]', /isEnabled/],
    ['[{"username":"a","password":5}]', /the password must be a text/],
    ['[{"username":"a","id":"x"}]', /id is not a GUID/],
    ['[{"username":"a","remarks":["x"]}]', /remarks/],
    ['[{"username":"a","authorizedAddresses":[7]}]', /authorizedAddresses must be text, or a list of texts/],
    ['[{"username":"a","maxSessions":0}]', /maxSessions must be a whole number of 1 or more/],
    ['[{"username":"a","lookupsPerMinute":10000001}]', /lookupsPerMinute must be a whole number from 0/],
    ['[{"username":"a","maxConnections":-1}]', /maxConnections must be a whole number from 0/],
    ['[{"username":"a","quotaPeriod":"year"}]', /quotaPeriod is none of day, week, month, never/],
    ['[{"username":"a","egressClass":7}]', /egressClass is not a text/],
    ['[{"username":"a","expiresAt":5}]', /a date must be of the form/],
    ['[{}] trailing', /not a JSON array of objects/],
    [`[{"username":"${'x'.repeat(70_000)}"}]`, /longer than 64 KiB/],
    ['[{"__proto__":{"username":"a"}}]', /the user name is missing/],
  ];
  for (const [content, fault] of faultyFiles) {
    it(`reports the fault in ${JSON.stringify(content.slice(0, 40))}`, async () => {
      const found = faults(await allRecords(readJson(inChunks(content, 1000)))).join('\n');
      assert.match(found, fault);
      assert.doesNotMatch(found, /hunter2/);
    });
  }

  it('is read when JSON.parse can read it, with the same number of records', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), { maxLength: 4 }),
        fc.nat(4),
        async (list, indent) => {
          const content = JSON.stringify(list, null, indent);
          assert.equal((await allRecords(readJson(inChunks(content, 3)))).length, list.length);
        },
      ),
      { numRuns: RANDOM_FILES },
    );
  });
});

describe("CCProxy's AccInfo.ini", () => {
  const file = (users: string[]) => `[System]\r\nUserCount=${users.length}\r\n${users.join('\r\n')}\r\n`;
  const accounts = async (content: string | Buffer, zone = 'UTC') => {
    const input = Readable.from([Buffer.from(content)]);
    return (await allRecords(readCcproxy(input, { zone }))).map((record) =>
      'account' in record ? record.account : record,
    );
  };

  it('is read: encoded and plain passwords, disabled users, expiry, connections', async () => {
    const [first, second, third] = (await accounts(
      file([
        '[User001]\r\nUserName=one\r\nPassword=902901900\r\nEnable=1\r\nMaxConn=5\r\nAutoDisable=1\r\nDisableDateTime=2030-01-02 03:04:05',
        '[User002]\r\nUserName=two\r\nPassword=123456\r\nEnable=0\r\nMaxConn=-1\r\nAutoDisable=0\r\nDisableDateTime=2001-01-01 00:00:00',
        '[User003]\r\nusername=three\r\nPassword=pl=ain\r\nEnableSocks=0',
      ]),
    )) as Record<string, unknown>[];
    assert.deepEqual(
      [first?.['password'], first?.['isEnabled'], first?.['limits'], first?.['expiresAt']],
      ['abc', true, { maxSessions: 5 }, Date.UTC(2030, 0, 2, 3, 4, 5)],
    );
    assert.deepEqual(
      [second?.['password'], second?.['isEnabled'], second?.['limits']],
      ['123456', false, {}],
    );
    assert.equal(second?.['expiresAt'], undefined);
    assert.deepEqual([third?.['password'], third?.['isEnabled']], ['pl=ain', false]);
  });

  it('is read with its addresses and rates; settings that are lost are reported', async () => {
    const lost: string[] = [];
    const content = file([
      '[User001]\r\nUserName=bound\r\nPassword=x\r\nEnableIPAddress=1\r\nIPAddressLow=192.0.2.4\r\nIPAddressHigh=192.0.2.10\r\nEnableMACAddress=1\r\nMACAddress=001122334455\r\nBandWidth=227328\r\nBandWidth2=204800\r\nWebFilter=0\r\nTimeSchedule=1',
      '[User002]\r\nUserName=open\r\nPassword=x\r\nEnableIPAddress=0\r\nIPAddressLow=255.255.255.255\r\nIPAddressHigh=255.255.255.255\r\nEnableMACAddress=0\r\nMACAddress=\r\nBandWidth=-1\r\nBandWidth2=-1\r\nWebFilter=-1\r\nTimeSchedule=-1\r\nBelongsGroup=0\r\nEnableLeftTime=0\r\nEnableBandwidthQuota=0\r\nServiceMask=254\r\nOutgoingIP=0.0.0.0',
      '[User003]\r\nUserName=known\r\nPassword=x\r\nEnableUserPassword=0\r\nEnableIPAddress=1\r\nIPAddressLow=198.51.100.1\r\nBandWidth=51200\r\nBelongsGroup=1\r\nEnableLeftTime=1\r\nEnableBandwidthQuota=1\r\nOutgoingIP=203.0.113.1\r\nEnableWWW=0',
      '[User004]\r\nUserName=family\r\nIsGroup=1',
      '[User005]\r\nUserName=unbound\r\nPassword=x\r\nEnableIPAddress=1\r\nIPAddressLow=\r\nIPAddressHigh=',
    ]);
    const options = { onLost: (setting: string) => void lost.push(setting) };
    const records = await allRecords(readCcproxy(Readable.from([Buffer.from(content)]), options));
    const [bound, open, known, unbound, ...more] = records.map((record) =>
      'account' in record ? record.account : null,
    );
    assert.deepEqual(more, []);
    assert.deepEqual([unbound?.allowedClients, unbound?.authorizedAddresses], [undefined, undefined]);
    assert.deepEqual(bound?.allowedClients, ['192.0.2.4/30', '192.0.2.8/31', '192.0.2.10']);
    assert.deepEqual(bound?.limits, { bytesPerSecondUp: 227_328, bytesPerSecondDown: 204_800 });
    assert.deepEqual(
      [open?.allowedClients, open?.authorizedAddresses, open?.limits],
      [undefined, undefined, {}],
    );
    assert.deepEqual([known?.allowedClients, known?.authorizedAddresses], [undefined, ['198.51.100.1']]);
    assert.deepEqual([known?.outgoingAddress, open?.outgoingAddress], ['203.0.113.1', undefined]);
    assert.deepEqual(known?.limits, { bytesPerSecondUp: 51_200, bytesPerSecondDown: 51_200 });
    assert.deepEqual(lost, [
      ...['mac-address', 'web-filter', 'time-schedule'],
      ...['group', 'left-time', 'bandwidth-quota', 'services'],
      ...['group-account', 'client-address'],
    ]);
  });

  it('never restricts an account to a part of its address range', async () => {
    const ranges = [
      'Low=192.0.2.9\r\nIPAddressHigh=192.0.2.4',
      'Low=192.0.2.9\r\nIPAddressHigh=home',
      'High=192.0.2.4',
    ];
    const content = file(
      ranges.map(
        (range, n) =>
          `[User00${n}]\r\nUserName=p${n}\r\nPassword=x\r\nEnableIPAddress=1\r\nIPAddress${range}`,
      ),
    );
    const found = (await accounts(content)) as Record<string, unknown>[];
    assert.deepEqual(
      found.map((account) => account['allowedClients']),
      // The first two are not valid addresses, so the import refuses these lines.
      [['192.0.2.9-192.0.2.4'], ['192.0.2.9-home'], ['192.0.2.4']],
    );
  });

  it('is read as GBK when it is not UTF-8; errors name their line', async () => {
    const gbk = Buffer.concat([
      Buffer.from('[User001]\nUserName='),
      Buffer.from([0xcd, 0xe6, 0xbc, 0xd2]),
      Buffer.from('\nPassword=902\n[User002]\nPassword=902\n'),
    ]);
    const [player, nameless] = (await accounts(gbk)) as Record<string, unknown>[];
    assert.equal(player?.['username'], '玩家');
    assert.deepEqual([nameless?.['line'], nameless?.['fault']], [4, { code: 'no-username', values: {} }]);
  });

  it('is written with names, states, expiry and connections, without passwords', async () => {
    await fc.assert(
      fc.asyncProperty(viewOf, fc.constantFrom('UTC', 'Asia/Shanghai'), async (view, zone) => {
        const content = await text(writeCcproxy([view], { zone }));
        assert.doesNotMatch(content, /sha256/);
        const { account } = view.view;
        const [back] = (await accounts(content, zone)) as Record<string, unknown>[];
        // An INI file cannot keep spaces around a value.
        if (account.username.trim() !== account.username) return;
        assert.equal(back?.['username'], account.username);
        assert.equal(back?.['isEnabled'], account.isEnabled);
        assert.equal(back?.['expiresAt'] ?? null, account.expiresAt);
        const { maxSessions = null } = (back?.['limits'] ?? {}) as { maxSessions?: number };
        assert.equal(maxSessions, account.limits.maxSessions);
      }),
      { numRuns: 200 },
    );
  });
});
