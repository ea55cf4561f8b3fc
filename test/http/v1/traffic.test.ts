// The traffic report on a real daemon: every grouping, ranges, orders, pages, CSV, and what a seller sees.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { signIn } from '../../helpers/console.js';
import { startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

interface Line {
  readonly key: string | null;
  readonly label: string | null;
  readonly accounts: number | null;
  readonly sessions: number | null;
  readonly bytesUp: number;
  readonly bytesDown: number;
}
interface Report {
  readonly items: Line[];
  readonly matched: number;
  readonly nextCursor: string | null;
  readonly zone: string;
  readonly from: string;
  readonly until: string;
  readonly sum: { readonly bytesUp: number };
  readonly unknown: { readonly bytesUp: number };
}

const PASSWORD = 'a-good-password';
/** Where the day differs from that of UTC for more than half of it, and does not end during the test. */
const ZONE = new Date().getUTCHours() === 9 ? 'Pacific/Niue' : 'Pacific/Kiritimati';
const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

describe('the traffic report', async () => {
  const scope = suiteScope();
  const target = await startTarget(scope, echo);
  const daemon = await startTestDaemon(scope, {
    config: {
      timeZone: ZONE,
      traffic: { maxDays: 31 },
      heartbeats: { games: [{ id: 'arena', match: { ports: [target.port] } }] },
    },
    operators: [{ name: 'shop', password: PASSWORD, role: 'seller' }],
  });
  const read = async (query: string, api = daemon.api): Promise<Report> => {
    const answer = await api('GET', `/api/v1/traffic?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Report;
  };
  const rows = ({ items }: Report) => items.map(({ label, bytesUp }) => [label, bytesUp]);
  const asSeller = async () => (await signIn(daemon, { username: 'shop', password: PASSWORD })).api;

  before(async () => {
    const exit = await daemon.api('POST', '/api/v1/exits', { name: 'jp', addresses: ['127.0.0.9'] });
    assert.equal(exit.status, 201, exit.text);
    const terms = [
      ['ann', { tags: ['vip', 'eu'], exit: 'jp' }, 4_000, daemon.api],
      ['=ben', { tags: ['vip'] }, 2_000, await asSeller()],
      ['cat', {}, 1_000, daemon.api],
    ] as const;
    for (const [username, fields, bytes, api] of terms) {
      const added = await api('POST', '/api/v1/accounts', { username, password: 'secret', ...fields });
      assert.equal(added.status, 201, added.text);
      const player = { port: daemon.socks.port, username, password: 'secret' };
      const client = await connectThrough(player, '127.0.0.1', target.port);
      client.send(Buffer.alloc(bytes));
      await client.read(bytes);
    }
    await eventually(async () => assert.equal((await read('')).sum.bytesUp, 7_000));
  });

  it('has a line for each account, tag, plan, seller, game and exit', async () => {
    const accounts = await read('');
    assert.deepEqual(rows(accounts), [
      ['ann', 4_000],
      ['=ben', 2_000],
      ['cat', 1_000],
    ]);
    const { key, ...first } = accounts.items[0] as Line;
    assert.match(String(key), /^[0-9a-f-]{36}$/);
    const sums = { bytesUp: 4_000, bytesDown: 4_000 };
    assert.deepEqual(first, { label: 'ann', isOthers: false, accounts: 1, sessions: 1, ...sums });
    const tags = await read('by=tag');
    assert.deepEqual(rows(tags), [
      ['vip', 6_000],
      ['eu', 4_000],
      [null, 1_000],
    ]);
    assert.equal(tags.sum.bytesUp, 7_000, 'an account with two tags counts once');
    assert.deepEqual(rows(await read('by=plan')), [[null, 7_000]]);
    assert.deepEqual(rows(await read('by=seller')), [
      [null, 5_000],
      ['shop', 2_000],
    ]);
    assert.deepEqual(rows(await read('by=game')), [['arena', 7_000]]);
    const exits = await read('by=exit');
    assert.deepEqual(rows(exits), [
      ['jp', 4_000],
      [null, 3_000],
    ]);
    assert.deepEqual([exits.items[0]?.accounts, exits.items[0]?.sessions], [1, null]);
    assert.equal(exits.unknown.bytesUp, 0);
  });

  it('is sorted by any column, in pages', async () => {
    const first = await read('sort=label&limit=2');
    assert.deepEqual(rows(first), [
      ['=ben', 2_000],
      ['ann', 4_000],
    ]);
    assert.equal(first.matched, 3);
    const rest = await read(`sort=label&limit=2&cursor=${first.nextCursor}`);
    assert.deepEqual([rows(rest), rest.nextCursor], [[['cat', 1_000]], null]);
    assert.deepEqual(rows(await read('sort=bytesDown&limit=1')), [['cat', 1_000]]);
  });

  it('counts days in the time zone of the daemon, up to the configured number', async () => {
    const { until: today, from, zone } = await read('');
    assert.equal(zone, ZONE);
    assert.equal(from, dayAfter(today, -29));
    assert.equal(today, new Intl.DateTimeFormat('sv', { timeZone: zone }).format(Date.now()));
    assert.equal((await read(`from=${today}&until=${today}`)).items.length, 3);
    assert.deepEqual((await read(`from=${dayAfter(today, -1)}&until=${dayAfter(today, -1)}`)).items, []);
    assert.equal((await read(`from=${dayAfter(today, -30)}`)).items.length, 3, '31 days');
    for (const days of [-31, 1]) {
      const refused = await daemon.api('GET', `/api/v1/traffic?from=${dayAfter(today, days)}`);
      const [error] = (refused.json as { errors: { path: string; code: string; values: object }[] }).errors;
      assert.deepEqual(
        [refused.status, error?.path, error?.code, error?.values],
        [400, 'query.from', 'day-range', { max: 31 }],
      );
    }
    assert.equal((await daemon.api('GET', '/api/v1/traffic?from=2026-02-30')).status, 400);
  });

  it('is a file that no spreadsheet evaluates', async () => {
    const { status, text, headers } = await daemon.api('GET', '/api/v1/traffic/export?by=account&sort=label');
    assert.equal(status, 200);
    assert.match(headers.get('content-disposition') ?? '', /filename="traffic-account-.*\.csv"/);
    const lines = text.replace('\uFEFF', '').trim().split('\r\n');
    assert.equal(lines[0], '"label","key","accounts","sessions","bytesUp","bytesDown"');
    assert.match(lines[1] ?? '', /^"'=ben","[0-9a-f-]{36}",1,1,2000,2000$/);
    assert.equal(lines.length, 4);
  });

  it('shows a seller its own accounts', async () => {
    const api = await asSeller();
    for (const by of ['account', 'tag', 'plan', 'seller', 'game', 'exit']) {
      const report = await read(`by=${by}`, api);
      assert.deepEqual([by, report.items.length, report.sum.bytesUp], [by, 1, 2_000]);
    }
    const file = await api('GET', '/api/v1/traffic/export');
    assert.ok(file.text.includes('ben') && !file.text.includes('ann'), file.text);
  });
});
