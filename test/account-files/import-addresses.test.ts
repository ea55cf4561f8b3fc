// Authorized addresses in an import: why a line fails, and that a dry run, an import and a concurrent change agree.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type ImportDeps, importAccounts } from '../../src/account-files/import.js';
import { readRecord } from '../../src/account-files/record.js';
import { DAEMON } from '../../src/core/audit/audit.js';
import { startTestAdmin, type TestAdmin } from '../helpers/admin.js';

type Line = readonly [username: string, authorizedAddresses: string];

/** Returns for each line the user name with its addresses after the import, or with the reason of the failure. */
async function importLines(
  admin: TestAdmin,
  lines: Iterable<Line> | AsyncIterable<Line>,
  options: Partial<ImportDeps> = {},
): Promise<string[]> {
  const records = async function* () {
    let line = 1;
    for await (const [username, authorizedAddresses] of lines)
      yield readRecord(line++, { username, password: 'secret', authorizedAddresses });
  };
  const results: string[] = [];
  const imported = importAccounts(records(), {
    accounts: admin.accounts,
    mayChange: () => true,
    mayChooseIds: true,
    existing: 'replace',
    now: Date.now,
    newId: randomUUID,
    dryRun: false,
    by: DAEMON,
    audit: admin.store.audit,
    fileName: null,
    // None of the lines has an outgoing address.
    exits: { list: () => [], isFixed: () => false, add: async () => null },
    mayAddExits: false,
    onLost: (setting) => assert.fail(setting),
    onExit: () => assert.fail('an exit was added'),
    onError: (error) => assert.fail(String(error)),
    ...options,
  });
  for await (const { username, outcome, account, message } of imported)
    results.push(`${username} ${outcome}: ${message ?? account?.authorizedAddresses.join(' ')}`);
  return results;
}

async function startAdminWithTwoAccounts(t: TestContext): Promise<TestAdmin> {
  const admin = await startTestAdmin(t);
  for (const [name, address] of [
    ['alice', '192.0.2.1'],
    ['bob', '192.0.2.2'],
  ] as const) {
    const id = await admin.addAccount(name);
    await admin.accounts.patch(id, () => ({ authorizedAddresses: [address] }), DAEMON);
  }
  return admin;
}

const FILE: readonly Line[] = [
  ['carol', '203.0.113.0/24, 2001:db8::1'],
  ['dave', '203.0.113.9'],
  ['erin', '192.0.2.2'],
  ['alice', '192.0.2.9'],
  ['frank', '192.0.2.1'],
  ['bob', ''],
  ['grace', '192.0.2.2'],
  ['heidi', 'player.example'],
  ['ivan', '0.0.0.0/0'],
  ['judy', Array.from({ length: 16 }, (_, n) => `198.51.100.${n}`).join(';')],
  ['ken', Array.from({ length: 17 }, (_, n) => `198.51.101.${n}`).join(' ')],
];

const EXPECTED = [
  'carol added: 203.0.113.0/24 2001:db8::1',
  'dave failed: 203.0.113.9 overlaps an address of the account "carol"',
  'erin failed: 192.0.2.2 overlaps an address of the account "bob"',
  'alice replaced: 192.0.2.9',
  'frank added: 192.0.2.1',
  'bob replaced: ',
  'grace added: 192.0.2.2',
  'heidi failed: "player.example" is neither an address (203.0.113.7) nor a network (203.0.113.0/24)',
  'ivan failed: 0.0.0.0/0 is too wide: at least /8 (IPv4) or /16 (IPv6)',
  `judy added: ${Array.from({ length: 16 }, (_, n) => `198.51.100.${n}`).join(' ')}`,
  'ken failed: an account has at most 16 addresses and networks (socks.maxAuthorizedAddresses)',
];

test('a dry run and the import report the same for every line', async (t) => {
  const admin = await startAdminWithTwoAccounts(t);
  assert.deepEqual(await importLines(admin, FILE, { dryRun: true }), EXPECTED);
  assert.deepEqual(admin.accounts.getByUsername('alice')?.account.authorizedAddresses, ['192.0.2.1']);
  assert.equal(admin.accounts.count(), 2);
  assert.deepEqual(await importLines(admin, FILE), EXPECTED);
  assert.equal(admin.directory.byAuthorizedAddress('192.0.2.1')?.username, 'frank');
  assert.equal(admin.directory.byAuthorizedAddress('192.0.2.2')?.username, 'grace');
  assert.equal(admin.accounts.count(), 6);
});

test('an account that is kept keeps its addresses', async (t) => {
  const admin = await startAdminWithTwoAccounts(t);
  const file: readonly Line[] = [
    ['alice', '192.0.2.9'],
    ['carol', '192.0.2.9'],
  ];
  assert.deepEqual(await importLines(admin, file, { existing: 'keep' }), [
    'alice kept: 192.0.2.1',
    'carol added: 192.0.2.9',
  ]);
});

test('an address that another account gets during the import fails only the line with that address', async (t) => {
  const admin = await startAdminWithTwoAccounts(t);
  const patch = (name: string, address: string) =>
    admin.accounts.patch(
      admin.accounts.getByUsername(name)?.account.id ?? '',
      () => ({ authorizedAddresses: [address] }),
      DAEMON,
    );
  const lines = async function* (): AsyncGenerator<Line> {
    yield ['carol', '203.0.113.1'];
    yield ['dave', '203.0.113.2'];
    yield ['bob', '203.0.113.3'];
    // The import has planned all lines, and writes none of them before the end of the file.
    assert.ok((await patch('alice', '203.0.113.1')).ok);
    await admin.addAccount('mallory');
    assert.ok((await patch('mallory', '203.0.113.3')).ok);
  };
  assert.deepEqual(await importLines(admin, lines()), [
    'carol failed: 203.0.113.1 overlaps an address of the account "alice"',
    'dave added: 203.0.113.2',
    'bob failed: 203.0.113.3 overlaps an address of the account "mallory"',
  ]);
  assert.deepEqual(admin.accounts.getByUsername('bob')?.account.authorizedAddresses, ['192.0.2.2']);
  assert.equal(admin.accounts.getByUsername('carol'), null);
});

test('an import lets the event loop run at least every twenty lines', async (t) => {
  const admin = await startAdminWithTwoAccounts(t);
  let sinceTurn = 0;
  let mostInOneTurn = 0;
  const turn = (): void => {
    sinceTurn = 0;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const file = async function* (): AsyncGenerator<Line> {
    for (let n = 0; n < 100; n += 1) {
      sinceTurn += 1;
      mostInOneTurn = Math.max(mostInOneTurn, sinceTurn);
      yield [`player${n}`, ''];
    }
  };
  await importLines(admin, file(), { dryRun: true });
  clearImmediate(timer);
  assert.ok(mostInOneTurn <= 20, `${mostInOneTurn} lines in one turn`);
});
