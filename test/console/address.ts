// The server address in links, and the compression of answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import type { World } from '../helpers/console-world.js';
import { ADMIN } from '../helpers/daemon.js';

export function addressTests(getWorld: () => World): void {
  test('the address in links is marked as a guess until it is set, then it is in links of the console and the command line', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t);
    await visit('/settings/address');
    await page.waitForSelector('.notice >> text=is a guess');
    assert.equal(await page.locator('.notice a').count(), 0, 'the page to set it is this one');
    await visit('/accounts?new=one');
    await page.fill('dialog input >> nth=0', 'linked');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog .qr');
    assert.match((await page.textContent('dialog')) ?? '', /socks5h:\/\/linked:.*@127\.0\.0\.1:\d+/);
    assert.match(
      (await page.textContent('dialog .notice')) ?? '',
      /127\.0\.0\.1 in links is a guess: it is the address the proxy listens on/,
    );
    await page.click('dialog footer button');
    await page.waitForSelector('dialog', { state: 'detached' });

    await visit('/settings/address');
    await page.fill('form input >> nth=0', 'gate.example');
    await page.fill('form input >> nth=1', '70000');
    assert.ok(await page.isDisabled('form button[type=submit]'));
    await page.fill('form input >> nth=1', '4443');
    await page.click('form button[type=submit]');
    await page.waitForSelector('[data-link] >> text=socks5h://…@gate.example:4443');
    assert.equal(await page.locator('.notice').count(), 0);
    assert.deepEqual(await page.locator('.facts .tag').allTextContents(), ['console', 'console']);

    const { AID } = await daemon.account('linked');
    const reset = await daemon.api('POST', `/api/v1/accounts/${AID}/password`, { password: 'p w' });
    assert.equal((reset.json as { link: string }).link, 'socks5h://linked:p%20w@gate.example:4443');
    const link = await runCommand(
      daemon.dataDir,
      ['account', 'link', 'linked', '--password-stdin', '--config', daemon.configFile],
      { stdin: 'p w' },
    );
    assert.equal(link.code, 0, link.stderr);
    assert.match(link.stdout, /socks5h:\/\/linked:p%20w@gate\.example:4443/);
    assert.equal(link.stderr, '');
    await daemon.api('PUT', '/api/v1/settings/public-address', { host: null, port: null });
  });

  test('files and answers are compressed, except answers with secrets', async () => {
    const { daemon } = getWorld();
    const basic = Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64');
    const encodingOf = async (path: string, accept = 'gzip', init: RequestInit = {}) => {
      const headers = { authorization: `Basic ${basic}`, 'accept-encoding': accept, ...init.headers };
      const answer = await fetch(daemon.adminUrl + path, { ...init, headers });
      const bytes = await answer.arrayBuffer();
      assert.equal(answer.status, 200, path);
      assert.ok(bytes.byteLength > 0);
      return answer.headers.get('content-encoding');
    };
    const html = await (await fetch(`${daemon.adminUrl}/`)).text();
    const [, script = ''] = /src="\.(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    assert.equal(await encodingOf(script), 'gzip');
    assert.equal(await encodingOf(script, 'br, gzip'), 'br');
    assert.equal(await encodingOf(script, 'identity'), null);
    assert.equal(await encodingOf('/api/v1/accounts'), 'gzip');
    assert.equal(await encodingOf('/api/v1/settings/public-address'), null, 'under 1 KiB');
    assert.equal(await encodingOf('/api/v1/accounts/export?format=json&withHashes=true'), null);
    const { AID } = await daemon.account('player0001');
    const password = 'x'.repeat(250);
    const jsonType = { 'content-type': 'application/json' };
    const reset = { method: 'POST', headers: jsonType, body: JSON.stringify({ password }) };
    assert.equal(await encodingOf(`/api/v1/accounts/${AID}/password`, 'gzip', reset), null);
    const batch = { pattern: 'sold{01-40}', dryRun: false };
    const create = { method: 'POST', headers: jsonType, body: JSON.stringify(batch) };
    assert.equal(await encodingOf('/api/v1/accounts/batch', 'gzip', create), null);
  });
}
