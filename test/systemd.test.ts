// What the service manager hears, received by a real Unix datagram socket.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createServiceManager } from '../src/systemd.js';
import { needs } from './helpers/programs.js';

const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", chr(0)))
print("listening", flush=True)
while True:
    print(s.recv(4096).decode().strip().replace("\\n", " "), flush=True)
`;

const fail = (error: Error) => {
  throw error;
};

const WAYS = [
  { way: 'a datagram of our own to a path', isAbstract: false, options: {} },
  { way: 'a datagram of our own to an abstract address', isAbstract: true, options: {} },
  { way: 'systemd-notify', isAbstract: false, options: { openSocket: () => null } },
];
for (const { way, isAbstract, options } of WAYS)
  describe(`the service manager, by ${way}`, needs('systemd-notify', 'python3'), () => {
    let folder = '';
    let receiver: ChildProcess;
    let isAlive = true;
    const heard: string[] = [];
    const listeners = new Set<() => void>();
    const path = () => (isAbstract ? `@pulsegate-test-${process.pid}` : join(folder, 'notify'));
    const env = (more: Record<string, string> = {}) => ({
      PATH: process.env['PATH'],
      NOTIFY_SOCKET: path(),
      ...more,
    });

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pulsegate-notify-'));
      receiver = spawn('python3', ['-c', RECEIVER, path()], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      assert.ok(receiver.stdout);
      createInterface({ input: receiver.stdout }).on('line', (line) => {
        heard.push(line);
        for (const listener of listeners) listener();
      });
      await hears(/^listening$/);
    });
    after(async () => {
      receiver.kill();
      await rm(folder, { recursive: true });
    });

    /** Resolves with the next message of this form, and forgets those before it. */
    const hears = (form: RegExp): Promise<void> =>
      new Promise((resolve) => {
        const look = () => {
          const at = heard.findIndex((line) => form.test(line));
          if (at < 0) return;
          heard.splice(0, at + 1);
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      });

    const start = (t: TestContext, more: Record<string, string> = {}) => {
      const service = createServiceManager(env(more), fail, { ...options, isAlive: () => isAlive });
      t.after(() => service.close());
      return service;
    };

    it('hears that the daemon is ready, and that it stops', async (t) => {
      const service = start(t);
      await service.ready();
      await hears(/^READY=1 STATUS=Ready$/);
      await service.stopping();
      await hears(/^STOPPING=1 STATUS=Stopping$/);
    });

    // Before any test with a watchdog: a sign that is still on its way would be taken for one of this test.
    it('hears none while a worker does not turn', async (t) => {
      isAlive = false;
      t.after(() => {
        isAlive = true;
      });
      const service = start(t, { WATCHDOG_USEC: '20000', WATCHDOG_PID: String(process.pid) });
      await service.ready();
      await hears(/^READY=1/);
      // Ten signs would be due in this time.
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(!heard.some((line) => line.startsWith('WATCHDOG')));
      isAlive = true;
      await hears(/^WATCHDOG=1$/);
    });

    it('hears signs of life when the unit has a watchdog', async (t) => {
      const service = start(t, { WATCHDOG_USEC: '200000', WATCHDOG_PID: String(process.pid) });
      await service.ready();
      await hears(/^READY=1/);
      await hears(/^WATCHDOG=1$/);
      const children = () =>
        readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
      const before = children();
      await hears(/^WATCHDOG=1$/);
      // The helper of the test before may still be ending.
      const added = children().filter((child) => !before.includes(child));
      assert.deepEqual(added, [], 'no child of ours a ping: one helper stays');
    });

    it('hears no signs of life meant for another process', async (t) => {
      const setInterval = t.mock.method(globalThis, 'setInterval');
      await start(t, { WATCHDOG_USEC: '200000', WATCHDOG_PID: '1' }).ready();
      await hears(/^READY=1/);
      assert.equal(setInterval.mock.callCount(), 0);
    });

    it('may be gone: that is reported, and nothing else', async () => {
      const errors: Error[] = [];
      const gone = { ...env(), NOTIFY_SOCKET: join(folder, 'gone') };
      await createServiceManager(gone, (error) => errors.push(error), options).ready();
      assert.equal(errors.length, 1);
    });
  });

it('without a service manager nothing is run', async () => {
  const service = createServiceManager({ PATH: '/nowhere' }, fail);
  await service.ready();
  await service.stopping();
  service.close();
});
