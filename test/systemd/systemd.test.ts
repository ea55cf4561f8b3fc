// The notifications to the service manager (sd_notify), received by a real Unix datagram socket.
// Alone: counts the children and timers of its process.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createServiceManager } from '../../src/systemd/systemd.js';
import { needs } from '../helpers/programs.js';

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

const METHODS = [
  { method: 'a datagram to a path', isAbstract: false, options: {} },
  { method: 'a datagram to an abstract address', isAbstract: true, options: {} },
  { method: 'systemd-notify', isAbstract: false, options: { openSocket: () => null } },
];
for (const { method, isAbstract, options } of METHODS)
  describe(`the service manager, notified by ${method}`, needs('systemd-notify', 'python3'), () => {
    let folder = '';
    let receiver: ChildProcess;
    let isAlive = true;
    const messages: string[] = [];
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
        messages.push(line);
        for (const listener of listeners) listener();
      });
      await nextMessage(/^listening$/);
    });
    after(async () => {
      receiver.kill();
      await rm(folder, { recursive: true });
    });

    /** Resolves when a message of this form has arrived, and removes it and the earlier ones. */
    const nextMessage = (form: RegExp): Promise<void> =>
      new Promise((resolve) => {
        const check = () => {
          const at = messages.findIndex((line) => form.test(line));
          if (at < 0) return;
          messages.splice(0, at + 1);
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      });

    const start = (t: TestContext, more: Record<string, string> = {}) => {
      const service = createServiceManager(env(more), fail, { ...options, isAlive: () => isAlive });
      t.after(() => service.close());
      return service;
    };

    it('gets a message when the daemon is ready, and when it stops', async (t) => {
      const service = start(t);
      await service.ready();
      await nextMessage(/^READY=1 STATUS=Ready$/);
      await service.stopping();
      await nextMessage(/^STOPPING=1 STATUS=Stopping$/);
    });

    // This test is the first one with a watchdog, because a late message of another test would be taken for one of this test.
    it('gets no watchdog message while a worker is stuck', async (t) => {
      isAlive = false;
      t.after(() => {
        isAlive = true;
      });
      const service = start(t, { WATCHDOG_USEC: '20000', WATCHDOG_PID: String(process.pid) });
      await service.ready();
      await nextMessage(/^READY=1/);
      // Ten messages would be due in this time.
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(!messages.some((line) => line.startsWith('WATCHDOG=1')));
      isAlive = true;
      await nextMessage(/^WATCHDOG=1$/);
    });

    it('gets watchdog messages when the unit has a watchdog', async (t) => {
      const service = start(t, { WATCHDOG_USEC: '200000', WATCHDOG_PID: String(process.pid) });
      await service.ready();
      await nextMessage(/^READY=1/);
      await nextMessage(/^WATCHDOG=1$/);
      const children = () =>
        readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
      const before = children();
      await nextMessage(/^WATCHDOG=1$/);
      // The helper of the previous test may be ending still.
      const added = children().filter((child) => !before.includes(child));
      assert.deepEqual(added, [], 'a message needs no new child process');
    });

    it('gets no watchdog messages when the watchdog is for another process', async (t) => {
      const setInterval = t.mock.method(globalThis, 'setInterval');
      await start(t, { WATCHDOG_USEC: '200000', WATCHDOG_PID: '1' }).ready();
      await nextMessage(/^READY=1/);
      assert.equal(setInterval.mock.callCount(), 0);
    });

    it('may be missing, which is reported once', async () => {
      const errors: Error[] = [];
      const missing = { ...env(), NOTIFY_SOCKET: join(folder, 'missing') };
      await createServiceManager(missing, (error) => errors.push(error), options).ready();
      assert.equal(errors.length, 1);
    });
  });

it('says when systemd-notify sends the messages, which needs another setting of the unit', () => {
  let said = 0;
  const needsHelper = () => {
    said += 1;
  };
  const env = { PATH: process.env['PATH'], NOTIFY_SOCKET: '/nowhere/notify' };
  createServiceManager(env, fail, { needsHelper, openSocket: () => null }).close();
  createServiceManager({}, fail, { needsHelper, openSocket: () => null }).close();
  assert.equal(said, 1);
});

it('without a service manager no program is started', async () => {
  const service = createServiceManager({ PATH: '/nowhere' }, fail);
  await service.ready();
  await service.stopping();
  service.close();
});
