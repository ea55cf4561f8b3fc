// `pulsegate restart`: the program on disk replaces the running daemon, in the same process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { type DaemonLock, lockForDaemon } from '../../src/store/daemon-lock.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { makeCertificate } from '../helpers/certificate.js';
import { runCommand } from '../helpers/command.js';
import { copyProgram, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/ports.js';
import { has } from '../helpers/programs.js';
import { connectThrough, greeting } from '../helpers/socks-client.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

const restart = ({ dataDir, configFile }: TestDaemon) =>
  runCommand(dataDir, ['restart', '--config', configFile]);

/** A request under way may be cut; no connection may be refused. */
const isRefusedAt = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
    () => false,
    ({ cause }: { cause?: { code?: string } }) => cause?.code === 'ECONNREFUSED',
  );

const isConnected = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
};

/** The method that a listener behind TLS chooses (RFC 1928 §3). */
async function methodOverTls(port: number): Promise<number | undefined> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.write(greeting(2));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer[1];
}

interface Live {
  readonly id: string;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly openedAt: string;
}

/** The node engine hands over its listeners alone. */
const isNode = process.env['TEST_ENGINE'] === 'node';
const isPg = process.env['TEST_DATABASE'] === 'pg';

/** Waits until no daemon has the data folder, and takes the lock. */
async function lockFree(dataDir: string): Promise<DaemonLock> {
  for (;;) {
    try {
      return await lockForDaemon(dataDir, 'the data folder', sqliteClient);
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'daemon-running');
    }
  }
}

describe('pulsegate restart', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: { readonly port: number };
  const player = { username: 'anna', password: 'secret' };
  const countReady = () => daemon.lines.filter(({ msg }) => msg === 'ready').length;

  it('refuses no connection, keeps ports and process, and reads the configuration again', async () => {
    const [first, second, third] = [await freePort(), await freePort(), await freePort()];
    const secured = has('openssl') ? await freePort() : null;
    const listeners: object[] = [{ host: '127.0.0.1', port: first }];
    if (secured !== null) {
      const { certFile, keyFile } = makeCertificate(scope);
      listeners.push({ host: '127.0.0.1', port: secured, tls: { cert: certFile, key: keyFile } });
    }
    const database = isPg ? {} : { busyTimeout: '60s' };
    daemon = await startTestDaemon(scope, { config: { socks: { listeners }, database } });
    target = await startTarget(scope, echo);
    await daemon.addAccount(player.username, player.password);
    const isPort = async (port: number): Promise<boolean> =>
      connectThrough({ ...player, port }, '127.0.0.1', target.port).then(
        (session) => {
          session.destroy();
          return true;
        },
        () => false,
      );
    assert.equal(await isPort(first), true);
    const text = await readFile(daemon.configFile, 'utf8');
    await writeFile(daemon.configFile, text.replaceAll(`${first}`, `${second}`));

    const live = await connectThrough({ ...player, port: daemon.socks.port }, '127.0.0.1', target.port);
    live.send('before');
    assert.equal(String(await live.read(6)), 'before');
    const sessionsNow = async () =>
      ((await daemon.api('GET', '/api/v1/sessions?sort=openedAt&limit=1')).json as { items: Live[] })
        .items[0];
    const before = await eventually(async () => {
      const found = await sessionsNow();
      assert.equal(found?.bytesUp, 6);
      return found;
    });

    let isOver = false;
    const refused: unknown[] = [];
    const attempts = (async () => {
      for (let count = 0; ; count += 1) {
        if (isOver && count > 20) return count;
        await Promise.all([
          isRefusedAt(daemon.adminUrl).then((isRefused) => isRefused && refused.push('admin')),
          isConnected(secured ?? daemon.socks.port).then((isOpen) => isOpen || refused.push('TLS')),
          connectThrough({ ...player, port: daemon.socks.port }, '127.0.0.1', target.port).then(
            (session) => session.destroy(),
            (error: unknown) => refused.push(error),
          ),
        ]);
      }
    })();
    const { code, stdout, stderr } = await restart(daemon);
    isOver = true;
    assert.deepEqual([code, stderr], [0, ''], stderr);
    assert.match(stdout, /^Restarted in \d+ ms\.$/m);
    assert.ok((await attempts) > 20);
    assert.deepEqual(refused.map(String), []);
    await eventually(() => assert.equal(countReady(), 2));
    assert.equal(daemon.process.exitCode, null);
    if (!isNode) {
      live.send('after.');
      assert.equal(String(await live.read(6)), 'after.');
      await eventually(async () => {
        const { id, bytesUp, bytesDown, openedAt } = (await sessionsNow()) ?? {};
        assert.deepEqual([id, bytesUp, bytesDown, openedAt], [before.id, 12, 12, before.openedAt]);
      });
    }
    live.destroy();
    if (secured !== null) assert.equal(await methodOverTls(secured), 2);
    // The listener of the first configuration is closed, that of the second is open.
    assert.deepEqual([await isPort(first), await isPort(second), await isPort(third)], [false, true, false]);
  });

  const isLocking = !isNode && !isPg;
  it('lets bytes flow and players log in before the database is open', { skip: !isLocking }, async () => {
    const connect = () => connectThrough({ ...player, port: daemon.socks.port }, '127.0.0.1', target.port);
    const live = await connect();
    live.send('before');
    assert.equal(String(await live.read(6)), 'before');
    const restarted = restart(daemon);
    // The process before has closed the database, the next one has not opened it yet.
    const lock = await lockFree(daemon.dataDir);
    const file = join(daemon.dataDir, 'pulsegate.db');
    const beside = connectSqlite(sqliteClient, file, 10_000);
    const locked = await beside.transaction();
    await locked.raw('update settings set value = value');
    // No other daemon may take the name meanwhile.
    const [node] = await locked('nodes').select<{ lease_until: number | null }[]>('lease_until');
    assert.notEqual(node?.lease_until ?? null, null);
    await lock.release();
    live.send('during');
    assert.equal(String(await live.read(6)), 'during');
    const login = await connect();
    login.send('player');
    assert.equal(String(await login.read(6)), 'player');
    assert.equal(countReady(), 2);
    await locked.rollback();
    await beside.destroy();
    assert.equal((await restarted).code, 0);
    await eventually(async () => {
      const { json } = await daemon.api('GET', '/api/v1/sessions?sort=openedAt&limit=2');
      const bytes = (json as { items: Live[] }).items.map(({ bytesUp, bytesDown }) => [bytesUp, bytesDown]);
      assert.deepEqual(bytes, [
        [12, 12],
        [6, 6],
      ]);
    });
    await eventually(() => assert.equal(countReady(), 3));
    for (const each of [live, login]) each.destroy();
  });

  it('of a program that could not start changes nothing, and says why', async () => {
    const text = await readFile(daemon.configFile, 'utf8');
    const missing = '/does/not/exist.pem';
    await writeFile(daemon.configFile, `${text}geo: ${JSON.stringify({ country: missing })}\n`);
    const { code, stdout, stderr } = await restart(daemon);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^The daemon is not restarted, and continues as before\.\n[\s\S]*exist\.pem[\s\S]*exit code 2/,
    );
    assert.equal(countReady(), isLocking ? 3 : 2);
    await writeFile(daemon.configFile, text);
    assert.equal((await restart(daemon)).code, 0);
    await eventually(() => assert.equal(countReady(), isLocking ? 4 : 3));
  });

  it('of a program that cannot be executed goes on with the old one, and a signal meanwhile stops that', async (t) => {
    const program = await copyProgram(t);
    const node = join(program, 'node');
    const start = join(program, 'bin/pulsegate.js');
    const putNode = () => copyFile(process.execPath, node);
    await putNode();
    // The check succeeds, and Node is gone afterwards.
    const check = `if (process.argv.includes('--check')) {
      require('node:fs').unlinkSync(process.execPath);
      process.exit();
    }`;
    await writeFile(start, (await readFile(start, 'utf8')).replace(/^'use strict';$/m, check));
    const wrap = ['sh', '-c', 'shift; exec "$0" "$@"', node];
    const other = await startTestDaemon(t, { program, wrap });
    await other.addAccount(player.username, player.password);
    const live = await connectThrough({ ...player, port: other.socks.port }, '127.0.0.1', target.port);
    const { code, stderr } = await restart(other);
    assert.deepEqual(
      [code, stderr.trim()],
      [1, 'The restart failed, and the daemon continues: execve: errno 2'],
    );
    const count = (wanted: string) => other.lines.filter(({ msg }) => msg === wanted).length;
    await eventually(() => assert.equal(count('ready'), 2));
    if (!isNode) {
      live.send('after.');
      assert.equal(String(await live.read(6)), 'after.');
    }
    assert.equal((await other.account(player.username))['Username'], player.username);
    await putNode();
    const again = restart(other);
    await eventually(() => assert.equal(count('restarting'), 2));
    other.signal('SIGTERM');
    assert.equal(await other.exited(), 0);
    assert.equal((await again).code, 1);
    live.destroy();
  });

  it('needs a running daemon', async () => {
    daemon.signal('SIGTERM');
    assert.equal(await daemon.exited(), 0);
    const { code, stderr } = await restart(daemon);
    assert.equal(code, 1);
    assert.match(stderr, /^No daemon is running for/);
  });
});
