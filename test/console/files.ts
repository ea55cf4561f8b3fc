// Files of accounts, API tokens, and operators.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { World } from '../helpers/console-world.js';

export function fileTests(getWorld: () => World): void {
  test('accounts are imported from a file after a dry run, and exported', async (t) => {
    const { daemon, open } = getWorld();
    const shown = await open(t);
    const { page, visit, errors } = shown;
    await daemon.addAccount('existing', 'secret');
    const count = async () =>
      ((await daemon.api('GET', '/api/v1/accounts?limit=1')).json as { total: number }).total;
    const countBefore = await count();
    await visit('/accounts?new=import');
    const csv = [
      'username,password,remarks,authorizedAddresses',
      'file01,secret1,=1+1,"203.0.113.7, 2001:db8::/48"',
      'file02,secret2,,',
      'file03,secret3,,203.0.113.0/24',
      'existing,other,,',
      ',nobody,,',
    ].join('\n');
    await page.setInputFiles('dialog input[type=file]', {
      name: 'accounts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv),
    });
    await page.click('dialog footer >> text=Dry run');
    await page.waitForSelector('dialog >> text=/Dry run:.*2 added/');
    await page.waitForSelector('dialog >> text=203.0.113.7, 2001:db8::/48');
    await page.waitForSelector('dialog >> text=203.0.113.0/24 overlaps an address of the account "file01"');
    assert.equal(await count(), countBefore);
    await page.click('dialog >> text=/Import \\d/');
    await page.waitForSelector('dialog >> text=/Imported:.*2 added/');
    await page.keyboard.press('Escape');
    await visit('/accounts?search=file01');
    await page.waitForSelector('tbody >> text=file01');
    await visit('/accounts?new=export');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('dialog >> text=Download'),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    assert.match(text, /file02/);
    assert.match(text, /"203\.0\.113\.7, 2001:db8::\/48"/);
    assert.doesNotMatch(text, /(^|,)=1\+1/m);
    assert.deepEqual(errors, []);
  });

  test('a token is shown once, and is valid within its scopes until it is revoked', async (t) => {
    const { daemon, open } = getWorld();
    const shown = await open(t);
    const { page, visit } = shown;
    await visit('/settings/tokens');
    await page.click('text=New token');
    await page.fill('dialog input >> nth=0', 'billing');
    await page.check('dialog label >> text=accounts:read');
    await page.click('dialog >> text=Create');
    await page.waitForSelector('dialog >> text=The token is ready');
    const secret = (await page.textContent('dialog code >> nth=0')) ?? '';
    const request = (path: string) =>
      fetch(daemon.adminUrl + path, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal((await request('/api/v1/accounts')).status, 200);
    assert.equal((await request('/api/v1/audit')).status, 403);
    await page.click('dialog footer button');
    await page.click('tbody >> text=Revoke');
    await page.click('dialog footer >> text=Revoke');
    await page.waitForSelector('text=No tokens yet');
    assert.equal((await request('/api/v1/accounts')).status, 401);
  });

  test('a seller is added, gets a larger budget, is disabled, and is removed', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t);
    const firstOperator = async () =>
      ((await daemon.api('GET', '/api/v1/operators')).json as { items: Record<string, unknown>[] }).items[0];
    await visit('/operators');
    await page.click('text=New operator');
    await page.fill('dialog input >> nth=0', 'shop');
    await page.fill('dialog input[type=password]', 'a long password of the shop');
    const [accounts, days, traffic] = [0, 1, 2].map((nth) => `dialog .grid-2 input >> nth=${nth}`) as [
      string,
      string,
      string,
    ];
    await page.fill(accounts, '10');
    await page.fill(traffic, '1.5');
    await page.fill(days, 'a week');
    assert.equal(await page.isDisabled('dialog button[type=submit]'), true, 'no number');
    await page.fill(days, '');
    await page.click('dialog >> text=Create');
    await page.waitForSelector('tbody >> text=0 / 10');
    assert.deepEqual((await firstOperator())?.['budget'], { accounts: 10, days: null, bytes: 1_500_000_000 });
    await page.click('tbody >> text=shop');
    await page.fill(accounts, '20');
    await page.uncheck('dialog label >> text=May sign in');
    await page.click('dialog >> text=Save');
    await page.waitForSelector('tbody >> text=Disabled');
    const { budget, isEnabled } = (await firstOperator()) ?? {};
    assert.deepEqual([budget, isEnabled], [{ accounts: 20, days: null, bytes: 1_500_000_000 }, false]);
    await page.click('tbody >> text=Remove');
    await page.click('dialog footer >> text=Remove');
    await page.waitForSelector('text=No operators yet');
    assert.equal(await firstOperator(), undefined);
  });
}
