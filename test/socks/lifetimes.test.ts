// When sessions end: changes of their account, time limits, and the stop of the daemon.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough, greeting, loggedInClient, login, RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, hold, startTarget } from '../helpers/targets.js';

describe('live sessions', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  const account = { port: 0, username: 'player', password: 'secret' };
  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: { socks: { idleTimeout: '9s', halfCloseTimeout: '1s' } },
    });
    await daemon.addAccount('player', 'secret');
    account.port = daemon.socks.port;
  });

  async function liveSession(t: Parameters<typeof startTarget>[0], username: string, fields = {}) {
    const id = await daemon.addAccount(username, 'secret', fields);
    const target = await startTarget(t, echo);
    const client = await connectThrough(
      { port: daemon.socks.port, username, password: 'secret' },
      '127.0.0.1',
      target.port,
    );
    client.send('alive');
    await client.read(5);
    return { id, client };
  }

  for (const [change, path, body, reason] of [
    ['disabled', 'UpdateProxyAccount', { IsEnabled: false }, 'account-disabled'],
    ['given a new password', 'UpdateProxyAccount', { Password: 'other' }, 'password-changed'],
    ['expired by an update', 'UpdateProxyAccount', { ExpiresAt: '2020-01-01T00:00:00' }, 'account-expired'],
    ['deleted', 'DeleteProxyAccount', null, 'account-removed'],
  ] as const) {
    it(`end when their account is ${change}`, async (t) => {
      const username = `changed-${reason}`;
      const { id, client } = await liveSession(t, username);
      const url = body === null ? `/ProxyAccount/${path}?AID=${id}` : `/ProxyAccount/${path}`;
      const answer = await daemon.api('POST', url, body === null ? undefined : { AID: id, ...body });
      assert.equal(answer.status, 200, answer.text);
      await client.closed();
      const line = await daemon.waitForLine(
        (each) => each.msg === 'session ended' && each['account'] === username,
      );
      assert.equal(line['end'], reason);
      const refused = await RawClient.connect(daemon.socks.port);
      refused.send(Buffer.concat([greeting(2), login(username, 'secret')]));
      assert.equal((await refused.readToEnd()).toString('hex'), '05020101');
    });
  }

  it('end when their account expires', async (t) => {
    const { id, client } = await liveSession(t, 'expiring');
    // Dates in the API have whole seconds, so this one is 1 to 2 s away.
    const expiresAtMs = (Math.floor(Date.now() / 1000) + 2) * 1000;
    const ExpiresAt = new Date(expiresAtMs).toISOString().slice(0, 19);
    const answer = await daemon.api('POST', '/ProxyAccount/UpdateProxyAccount', { AID: id, ExpiresAt });
    assert.equal(answer.status, 200, answer.text);
    await client.closed();
    assert.ok(Date.now() >= expiresAtMs, 'the session ended too early');
    const line = await daemon.waitForLine(
      (each) => each.msg === 'session ended' && each['account'] === 'expiring',
    );
    assert.equal(line['end'], 'account-expired');
  });

  it('continue after a change of their account that does not affect the login', async (t) => {
    const { id, client } = await liveSession(t, 'staying');
    const answer = await daemon.api('POST', '/ProxyAccount/UpdateProxyAccount', {
      AID: id,
      Remarks: 'new',
      Password: '  ',
    });
    assert.equal(answer.status, 200);
    client.send('still');
    assert.equal((await client.read(5)).toString(), 'still');
    client.destroy();
  });

  it('are refused when their account is closed between login and request', async () => {
    const id = await daemon.addAccount('between', 'secret');
    const client = await loggedInClient({ port: daemon.socks.port, username: 'between', password: 'secret' });
    await daemon.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${id}`);
    client.send(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 0, 9]));
    assert.equal((await client.readToEnd()).toString('hex'), '05010001000000000000');
  });

  it('end after idleTimeout without traffic, and not with traffic', async (t) => {
    const target = await startTarget(t, echo);
    const idle = await connectThrough(account, '127.0.0.1', target.port);
    const busy = await connectThrough(account, '127.0.0.1', target.port);
    const traffic = setInterval(() => busy.send('x'), 300);
    t.after(() => clearInterval(traffic));
    await idle.closed();
    assert.equal(busy.socket.destroyed, false);
    const line = await daemon.waitForLine(
      (each) => each.msg === 'session ended' && each['end'] === 'idle-timeout',
    );
    assert.equal(line['account'], 'player');
    busy.destroy();
  });

  it('end half-closed after halfCloseTimeout without traffic in the other direction', async (t) => {
    const target = await startTarget(t, hold);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    client.socket.end();
    await daemon.waitForLine((each) => each.msg === 'session ended' && each['end'] === 'half-close-timeout');
    await client.closed();
  });
});

describe('a daemon that stops', () => {
  it('waits for live sessions, accepts no new ones, and exits with 0', async (t) => {
    const daemon = await startTestDaemon(t, { config: { shutdownGrace: '20s' } });
    await daemon.addAccount('player', 'secret');
    const target = await startTarget(t, echo);
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const client = await connectThrough(account, '127.0.0.1', target.port);
    daemon.signal('SIGTERM');
    await daemon.waitForLine((line) => /stopping/.test(line.msg));
    // The workers stop listening a moment later.
    await eventually(async () => {
      const late = await RawClient.connect(daemon.socks.port).catch(() => null);
      late?.destroy();
      assert.equal(late, null);
    });
    client.send('last words');
    assert.equal((await client.read(10)).toString(), 'last words');
    client.socket.end();
    assert.equal(await daemon.exited(), 0);
  });

  it('ends live sessions after shutdownGrace, or at once on a second signal, and stores their entries', async (t) => {
    const target = await startTarget(t, echo);
    const openSession = (daemon: TestDaemon) =>
      connectThrough(
        { port: daemon.socks.port, username: 'player', password: 'secret' },
        '127.0.0.1',
        target.port,
      );
    const first = await startTestDaemon(t, { config: { shutdownGrace: '500ms' } });
    await first.addAccount('player', 'secret');
    const client = await openSession(first);
    first.signal('SIGINT');
    await client.closed();
    assert.equal(await first.exited(), 0);
    const second = await startTestDaemon(t, { config: { shutdownGrace: '60s' }, dataDir: first.dataDir });
    const shown = await second.account('player');
    assert.equal(shown['DataCount'], 2);
    assert.notEqual(shown['LastLoginAt'], null);
    await openSession(second);
    second.signal('SIGTERM');
    await second.waitForLine((line) => /stopping/.test(line.msg));
    second.signal('SIGTERM');
    await second.exited();
  });
});
