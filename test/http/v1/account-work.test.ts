// What operators do with many accounts by /api/v1 and the command line, on one daemon.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { runCommand } from '../../helpers/command.js';
import { codeOf } from '../../helpers/console.js';
import { type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const ACCOUNTS = '/api/v1/accounts';

describe('work on accounts', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    daemon = await startTestDaemon(scope);
  });

  const must = (answer: ApiAnswer): Json => {
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return answer.json as Json;
  };
  const get = async (path: string) => must(await daemon.api('GET', path));
  const post = async (path: string, body: Json) => must(await daemon.api('POST', path, body));
  const cli = async (...args: string[]) => {
    const done = await runCommand(daemon.dataDir, [...args, '--config', daemon.configFile]);
    assert.equal(done.code, 0, done.stderr);
    return done.stdout;
  };
  const create = async (body: Json) => (await post(ACCOUNTS, body))['account'] as Json & { id: string };
  const named = async (query: string) =>
    ((await get(`${ACCOUNTS}?${query}`))['items'] as Json[]).map(({ username }) => username);

  it('tags: given, changed for one and many with a preview, filtered, exported, audited, and bounded', async () => {
    const one = await create({ username: 'tag-one', tags: ['vip', 'shop 2', 'vip'] });
    assert.deepEqual(one['tags'], ['shop 2', 'vip']);
    const many = await post(`${ACCOUNTS}/batch`, { pattern: 'tag-{1-3}', tags: ['monthly'] });
    assert.equal(many['count'], 3);
    assert.deepEqual(await named('tag=monthly'), ['tag-1', 'tag-2', 'tag-3']);
    assert.deepEqual(await named('search=SHOP'), ['tag-one']);
    assert.deepEqual(await named('tag=shop'), [], 'a tag is found whole');

    const action = { type: 'tag', add: ['vip', '月付'], remove: ['monthly'] };
    const bulk = (more: Json) =>
      daemon.api('POST', `${ACCOUNTS}/bulk`, { filter: { search: 'tag-' }, ...more });
    const preview = must(await bulk({ action, dryRun: true }));
    assert.deepEqual([preview['count'], preview['skippedCount']], [4, 0]);
    assert.deepEqual(
      (preview['changes'] as Json[])
        .filter(({ username }) => username === 'tag-1')
        .map(({ before: old, after }) => [old, after]),
      [[{ tags: ['monthly'] }, { tags: ['vip', '月付'] }]],
    );
    assert.deepEqual(await named('tag=monthly'), ['tag-1', 'tag-2', 'tag-3'], 'a preview writes nothing');
    must(await bulk({ action, dryRun: false, expectedCount: 4 }));
    assert.equal(must(await bulk({ action, dryRun: true }))['skippedCount'], 4);
    assert.deepEqual((await get(`${ACCOUNTS}/tags`))['items'], [
      { tag: 'shop 2', accounts: 1 },
      { tag: 'vip', accounts: 4 },
      { tag: '月付', accounts: 4 },
    ]);
    const csv = await daemon.api('GET', `${ACCOUNTS}/export?format=csv&tag=shop%202`);
    assert.match(csv.text, /^"tag-one",.*"shop 2, vip, 月付"\r?$/m);
    assert.doesNotMatch(csv.text, /tag-1/);
    const log = (await get(`/api/v1/audit?objectId=${one.id}`))['items'] as Json[];
    assert.deepEqual(
      [log[0]?.['before'], log[0]?.['after']],
      [{ tags: 'shop 2, vip' }, { tags: 'shop 2, vip, 月付' }],
    );

    const tags = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
    const set = (given: readonly string[]) => daemon.api('PATCH', `${ACCOUNTS}/${one.id}`, { tags: given });
    must(await set([...tags(15), 'x'.repeat(32)]));
    for (const wrong of [tags(17), ['x'.repeat(33)], ['a,b'], ['a；b'], [' a'], [''], ['a\u0007']])
      assert.deepEqual(codeOf(await set(wrong)), 'validation', JSON.stringify(wrong));
    const full = must(await bulk({ action: { type: 'tag', add: ['more'] }, dryRun: true }));
    assert.deepEqual(
      (full['skipped'] as Json[]).map(({ username, reason }) => [username, reason]),
      [['tag-one', 'too-many-tags']],
    );
    assert.equal((await bulk({ action: { type: 'tag', add: ['a;b'] }, dryRun: true })).status, 400);
  });

  it('tags on the command line and in files: added, taken away, listed, exported, imported', async () => {
    await cli('account', 'add', 'cli-tagged', '--generate', '--tag', 'vip', '--tag', 'eu');
    await cli('account', 'update', 'cli-tagged', '--tag', 'asia', '--untag', 'eu');
    const listed = JSON.parse(
      await cli('account', 'list', '--tag', 'vip', '--tag', 'asia', '--json'),
    ) as Json[];
    assert.deepEqual(
      listed.map(({ username, tags }) => [username, tags]),
      [['cli-tagged', ['asia', 'vip']]],
    );
    await eventually(async () => assert.deepEqual(await named('tag=asia'), ['cli-tagged']));
    const exported = JSON.parse(
      await cli('account', 'export', '--format', 'json', '--tag', 'asia'),
    ) as Json[];
    assert.deepEqual(
      exported.map(({ username, tags }) => [username, tags]),
      [['cli-tagged', 'asia, vip']],
    );
    const file = `用户名,密码,标签\r\nfile-tagged,secret,"vip，月付"\r\nfile-bad,secret,${'x'.repeat(33)}`;
    const basic = `Basic ${btoa('admin:test-admin-password')}`;
    const report = await fetch(`${daemon.adminUrl}${ACCOUNTS}/import`, {
      method: 'POST',
      headers: { authorization: basic, 'content-type': 'text/csv' },
      body: file,
    });
    const { added, lines } = (await report.json()) as { added: number; lines: Json[] };
    assert.equal(added, 1);
    assert.deepEqual(lines[0]?.['reason'], { code: 'tags', values: {} });
    assert.deepEqual(await named('tag=%E6%9C%88%E4%BB%98&search=file'), ['file-tagged']);
  });

  it('a new name: same id and history, its sessions end, only the new name logs in; a taken one changes nothing', async (t) => {
    const target = await startTarget(t, echo);
    const id = await daemon.addAccount('old-name', 'secret');
    await daemon.addAccount('in-use', 'secret');
    const login = (username: string) => ({ port: daemon.socks.port, username, password: 'secret' });
    const player = await connectThrough(login('old-name'), '127.0.0.1', target.port);
    const closed = player.closed();
    const { etag } = await get(`${ACCOUNTS}/${id}`);
    const rename = (username: string) =>
      daemon.api('PATCH', `${ACCOUNTS}/${id}`, { username, remarks: username }, { 'if-match': String(etag) });
    const taken = await rename('in-use');
    assert.deepEqual([taken.status, codeOf(taken)], [409, 'username-taken']);
    for (const wrong of ['', '  ', 'a\u0007', '名'.repeat(86)])
      assert.equal((await rename(wrong)).status, 400);
    assert.equal((await get(`${ACCOUNTS}/${id}`))['remarks'], null, 'nothing of a refused change is written');

    const renamed = must(await rename('new-name'));
    assert.deepEqual([renamed['id'], renamed['username'], renamed['remarks']], [id, 'new-name', 'new-name']);
    await closed;
    await daemon.waitForLine((line) => line['end'] === 'account-renamed' && line['account'] === 'old-name');
    await assert.rejects(connectThrough(login('old-name'), '127.0.0.1', target.port));
    (await connectThrough(login('new-name'), '127.0.0.1', target.port)).destroy();
    await eventually(async () => assert.ok(Number((await get(`${ACCOUNTS}/${id}`))['dataCount']) >= 2));
    assert.deepEqual(codeOf(await rename('third')), 'changed-meanwhile', 'the ETag knows the name');
    const [entry] = (await get(`/api/v1/audit?objectId=${id}`))['items'] as Json[];
    assert.deepEqual(
      [entry?.['action'], entry?.['before'], entry?.['after']],
      [
        'account.update',
        { username: 'old-name', remarks: null },
        { username: 'new-name', remarks: 'new-name' },
      ],
    );

    assert.match(await cli('account', 'rename', 'new-name', 'cli-name'), /new-name is now cli-name/);
    await eventually(async () => {
      (await connectThrough(login('cli-name'), '127.0.0.1', target.port)).destroy();
    });
    const refused = await runCommand(daemon.dataDir, [
      ...['account', 'rename', 'cli-name', 'in-use', '--config', daemon.configFile],
    ]);
    assert.deepEqual([refused.code, /already/.test(refused.stderr)], [1, true], refused.stderr);
    await create({ username: 'old-name' });
  });
});
