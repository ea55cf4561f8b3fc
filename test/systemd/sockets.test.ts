// Listening sockets that the service manager opens and passes to the daemon (sd_listen_fds), and their use.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadLibc } from '../../src/proxy/io/native/libc.js';
import { openListener } from '../../src/proxy/io/native/listen.js';
import { givenSockets } from '../../src/systemd/sockets.js';
import { keptDataDir, startTestDaemon } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

/** Opens a blocking socket for each name, from descriptor 3 on, and executes the daemon. */
const SPAWNER = `
import os, socket, sys
names = sys.argv[1]
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names.split(":")]
for i, each in enumerate(sockets):
    fd = os.dup(each.fileno())
    os.dup2(fd, 100 + i)
for i, _ in enumerate(sockets):
    os.dup2(100 + i, 3 + i)
    os.set_blocking(3 + i, True)
    os.set_inheritable(3 + i, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(sockets)))
if names != "unnamed":
    os.environ["LISTEN_FDNAMES"] = names
os.environ["GIVEN"] = " ".join(str(each.getsockname()[1]) for each in sockets)
os.execvp(sys.argv[2], sys.argv[2:])
`;
const wrap = (names: string) => ['python3', '-c', SPAWNER, names];

describe('sockets of the service manager', needs('python3'), () => {
  for (const engine of ['native', 'node'] as const) {
    it(`serve players and the admin API (${engine})`, async (t) => {
      const daemon = await startTestDaemon(t, {
        config: { socks: { engine, port: 1 }, admin: { port: 1 } },
        wrap: wrap('socks:admin:socks-2'),
      });
      const { socks, admin } = daemon.lines.find(({ msg }) => msg === 'ready') as unknown as {
        socks: string[];
        admin: string[];
      };
      assert.deepEqual([socks.length, admin.length], [2, 1]);
      const id = await daemon.addAccount('player', 'secret');
      assert.ok(id);
      const target = await startTarget(t, echo);
      for (const address of socks) {
        const port = Number(address.split(':')[1]);
        const client = await connectThrough(
          { port, username: 'player', password: 'secret' },
          '127.0.0.1',
          target.port,
        );
        client.send('hello');
        assert.equal((await client.read(5)).toString(), 'hello');
        client.destroy();
      }
      daemon.signal('SIGTERM');
      assert.equal(await daemon.exited(), 0);
    });
  }
});

describe('an inherited socket without a name', () => {
  const scope = suiteScope();
  for (const engine of ['native', 'node'] as const) {
    it(`serves players, and a restart resets no client, whatever it had sent (${engine})`, async (t) => {
      const libc = loadLibc();
      const listener = openListener(libc, { address: '127.0.0.1', port: 0 });
      assert.ok('fd' in listener);
      t.after(() => libc.close(listener.fd));
      const dataDir = await keptDataDir(scope);
      // A second would be little for all these clients on a busy machine.
      const config = { socks: { engine, workers: 2, port: 1 }, shutdownGrace: '1m' };
      const start = () => startTestDaemon(scope, { config, dataDir, sockets: [listener.fd] });
      const target = await startTarget(t, echo);
      const daemon = await start();
      await daemon.addAccount('player', 'secret');
      const { port } = listener.local;
      assert.deepEqual(daemon.lines.find(({ msg }) => msg === 'ready')?.['socks'], [`127.0.0.1:${port}`]);
      const silent = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(port)));
      const greeted = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(port)));
      for (const client of greeted) {
        client.send(greeting(2));
        await client.read(2);
      }
      const loggedIn = await loggedInClient({ port, username: 'player', password: 'secret' });
      daemon.signal('SIGTERM');
      await daemon.waitForLine(({ msg }) => msg === 'stopping');
      const finish = async (client: RawClient, isGreeted: boolean, isLoggedIn = false): Promise<void> => {
        if (!isGreeted) {
          client.send(greeting(2));
          await client.read(2);
        }
        if (!isLoggedIn) {
          client.send(login('player', 'secret'));
          assert.deepEqual([...(await client.read(2))], [1, 0]);
        }
        client.send(request('127.0.0.1', target.port));
        assert.equal((await readReply(client)).code, 0);
        client.send('hello');
        assert.equal((await client.read(5)).toString(), 'hello');
        client.destroy();
      };
      const finished = Promise.all([
        ...greeted.map((client) => finish(client, true)),
        finish(loggedIn, true, true),
        ...silent.map((client) => finish(client, false)),
        ...Array.from({ length: 8 }, async () => finish(await RawClient.connect(port), false)),
      ]);
      finished.catch(() => {});
      assert.equal(await daemon.exited(), 0);
      await start();
      await finished;
    });
  }
});

it('sockets for another process are not used; those without a known name serve players', () => {
  assert.deepEqual(givenSockets({}, 7), []);
  assert.deepEqual(givenSockets({ LISTEN_PID: '8', LISTEN_FDS: '1' }, 7), []);
  assert.deepEqual(givenSockets({ LISTEN_PID: '7', LISTEN_FDS: 'x' }, 7), []);
  assert.deepEqual(
    givenSockets({ LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'admin:pulsegate.socket' }, 7),
    [
      { fd: 3, use: 'admin' },
      { fd: 4, use: 'socks' },
    ],
  );
});
