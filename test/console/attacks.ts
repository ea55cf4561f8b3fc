// Attacks on the console: requests of another site in the same browser, and paths that lead out of its folder.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { World } from '../helpers/console-world.js';

export function attackTests(getWorld: () => World): void {
  test('another site in the same browser cannot read or change anything', async (t) => {
    const { daemon, open } = getWorld();
    const shown = await open(t);
    const id = await daemon.addAccount('victim', 'secret');
    const usernames = async () =>
      ((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { Username: string }[])
        .map((one) => one.Username)
        .sort();
    const before = await usernames();
    const port = new URL(daemon.adminUrl).port;
    const otherSite = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>another site</title>');
    });
    otherSite.listen(0, '127.0.0.1');
    await once(otherSite, 'listening');
    t.after(() => otherSite.close());
    const otherPort = (otherSite.address() as { port: number }).port;
    // For a cookie another port is the same site; another host name is another site.
    for (const from of [`http://127.0.0.1:${otherPort}/`, `http://localhost:${otherPort}/`]) {
      const page = await shown.page.context().newPage();
      await page.goto(from);
      const answer = await page.evaluate<string>(
        `fetch('http://127.0.0.1:${port}/api/v1/accounts', { credentials: 'include' }).then((r) => r.text(), () => 'refused')`,
      );
      assert.equal(answer, 'refused');
      await page.evaluate(attacks(`http://127.0.0.1:${port}`, id));
      // There is no event to wait for: a request for which the browser would ask for a password never ends.
      await page.waitForTimeout(1_000);
      await page.close();
    }
    assert.deepEqual(await usernames(), before);
    assert.equal(
      ((await daemon.api('GET', '/api/v1/settings/whitelist')).json as { whitelist: string }).whitelist,
      '',
    );
    assert.deepEqual(((await daemon.api('GET', '/api/v1/tokens')).json as { items: unknown[] }).items, []);
    // The console itself cannot be put into a frame.
    const page = await shown.page.context().newPage();
    await page.goto(`http://localhost:${otherPort}/`);
    await page.setContent(`<iframe src="${daemon.adminUrl}/"></iframe>`);
    assert.equal(await page.frames()[1]?.locator('.login, .rail').count(), 0);
  });

  test('no path reads a file outside the folder of the console', async () => {
    const { daemon } = getWorld();
    const { hostname, port } = new URL(daemon.adminUrl);
    const paths = [
      '/../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/package.json',
      '/assets/../../package.json',
      '/assets/..%5c..%5cpackage.json',
      '//etc/passwd',
      '/assets/%00',
      '/./../../etc/passwd',
      '/..;/package.json',
      '/assets',
      '/index.html/..',
      '/%252e%252e/package.json',
    ];
    // All at once: each refusal is delayed.
    await Promise.all(
      paths.map(async (path) => {
        const socket = connect(Number(port), hostname);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
        let answer = '';
        for await (const chunk of socket) answer += String(chunk);
        assert.match(answer, /^HTTP\/1\.1 (400|401|404)/, path);
        assert.ok(!answer.includes('"dependencies"') && !answer.includes('root:'), path);
      }),
    );
  });
}

/** Returns a script of another site that sends changes, with each mode of fetch and with forms. */
function attacks(base: string, id: string): string {
  const targets = [
    [`/ProxyAccount/DeleteProxyAccount?AID=${id}`, ''],
    ['/ProxyAccount/AddProxyAccount', '{"Username":"intruder","Password":"x"}'],
    ['/api/v1/accounts', '{"username":"intruder"}'],
    [`/api/v1/accounts/${id}/password`, '{}'],
    ['/api/v1/tokens', '{"name":"x","scopes":["accounts:write"]}'],
  ];
  return `(() => {
    const base = ${JSON.stringify(base)};
    const sent = [fetch(base + '/api/v1/settings/whitelist', {
      method: 'PUT', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"whitelist":"10.0.0.1"}',
    })];
    for (const [path, body] of ${JSON.stringify(targets)}) {
      for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
        const mode = type === 'application/json' ? 'cors' : 'no-cors';
        sent.push(fetch(base + path, { method: 'POST', mode, credentials: 'include', headers: { 'content-type': type }, body }));
      }
      const frame = document.createElement('iframe');
      frame.name = 'frame' + sent.length;
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', enctype: 'text/plain', action: base + path, target: frame.name });
      const input = document.createElement('input');
      // A form sends "name=value": the equals sign becomes part of the last field of the JSON.
      Object.assign(input, { name: body.replace(/}$/, ',"x":"') || 'a', value: '"}' });
      form.append(input);
      document.body.append(frame, form);
      form.submit();
    }
    Promise.allSettled(sent);
  })()`;
}
