// What only the splice engine can get wrong: handing over, a worker that dies, a machine where it does not work.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Log } from '../../src/core/log.js';
import { createSharedRate } from '../../src/core/sessions/rate-limit.js';
import { chooseRelay } from '../../src/relay/choose.js';
import { createSpliceDatagrams } from '../../src/relay/splice/datagram-engine.js';
import { createSpliceRelay, HAND_OVER } from '../../src/relay/splice/engine.js';
import { startRelayWorker } from '../../src/relay/splice/relay-worker.js';
import { associate, openEnd } from './datagram-suite.js';
import { createLanes, openDescriptors, roundTrips, settled, until } from './harness.js';

test('a relay is handed to the worker when it lives long enough to pay, and its seat is free afterwards', async (t) => {
  const worker = await startRelayWorker(assert.fail);
  const lanes = await createLanes(createSpliceRelay([worker], HAND_OVER));
  t.after(async () => {
    await lanes.close();
    await worker.close();
  });
  const lane = await lanes.open();
  await roundTrips(lane, 2);
  assert.equal(worker.load(), 0);
  await roundTrips(lane, HAND_OVER.chunks);
  assert.equal(worker.load(), 1);
  assert.equal(lane.relay.bytesUp(), HAND_OVER.chunks + 2);
  lane.relay.end();
  await lane.ended;
  assert.equal(worker.load(), 0);
  lanes.hangUp();
});

test('who destroys a socket that the worker has only asks it to let go', async (t) => {
  const worker = await startRelayWorker(assert.fail);
  let destroyDestination = () => {};
  const engine = createSpliceRelay([worker], { chunks: 0, bytes: 0 });
  const lanes = await createLanes((client, destination, options) => {
    destroyDestination = () => destination.destroy();
    return engine(client, destination, options);
  });
  t.after(async () => {
    await lanes.close();
    await worker.close();
  });
  const lane = await lanes.open();
  await roundTrips(lane, 2);
  destroyDestination();
  assert.equal(await lane.ended, 'ended');
  assert.equal(worker.load(), 0);
  lanes.hangUp();
});

test('a worker that dies ends its sessions, leaves no descriptor, and the next ones are streams', async () => {
  const before = await settled(openDescriptors);
  let death: Error | null = null;
  const worker = await startRelayWorker((error) => {
    death = error;
  });
  const lanes = await createLanes(createSpliceRelay([worker], { chunks: 0, bytes: 0 }));
  const doomed = await Promise.all(Array.from({ length: 20 }, () => lanes.open()));
  for (const lane of doomed) await roundTrips(lane, 2);
  assert.equal(worker.load(), 20);
  const ends = doomed.map((lane) => once(lane.player.resume(), 'end'));
  worker.order(99);
  assert.deepEqual(new Set(await Promise.all(doomed.map((lane) => lane.ended))), new Set(['relay-failed']));
  await Promise.all(ends);
  await until(() => death !== null);
  assert.match(String(death), /unknown order 99/);
  assert.deepEqual(
    doomed.map((lane) => [lane.relay.bytesUp(), lane.relay.bytesDown(), lane.ends()]),
    doomed.map(() => [2, 2, 1]),
  );

  const lane = await lanes.open();
  await roundTrips(lane, 100);
  assert.equal(lane.relay.bytesUp(), 100);
  lane.player.end();
  lane.far.end();
  assert.equal(await lane.ended, 'client-closed');
  lanes.hangUp();
  await lanes.close();
  await until(() => openDescriptors() <= before);
});

test('associations outlive a worker that dies: they go on with node:dgram', async () => {
  const before = await settled(openDescriptors);
  let isDead = false;
  const worker = await startRelayWorker(() => {
    isDead = true;
  });
  const echo = await openEnd('127.0.0.1', true);
  const association = await associate(createSpliceDatagrams([worker], Math.random, 8));
  association.cover(echo.at);
  await association.echo(echo.at, 3);
  assert.equal(worker.load(), 0);
  await association.echo(echo.at, 20);
  assert.equal(worker.load(), 1);
  worker.order(99);
  await until(() => isDead);
  assert.equal(worker.load(), 0);
  await association.echo(echo.at, 20);
  assert.equal(association.relay.counts.datagramsDown, 43);
  association.relay.end();
  association.client.socket.close();
  echo.socket.close();
  await until(() => openDescriptors() <= before);
});

test('an association under a rate comes back from its worker', async () => {
  const worker = await startRelayWorker(assert.fail);
  const echo = await openEnd('127.0.0.1', true);
  const association = await associate(createSpliceDatagrams([worker], Math.random, 8));
  association.cover(echo.at);
  await association.echo(echo.at, 20);
  assert.equal(worker.load(), 1);
  const rate = () => createSharedRate(1e9, Date.now);
  association.relay.limitRates({ up: rate(), down: rate() });
  await until(() => worker.load() === 0);
  await association.echo(echo.at, 50);
  assert.equal(worker.load(), 0);
  association.relay.end();
  association.client.socket.close();
  echo.socket.close();
  await worker.close();
});

test('sessions that are idle hold no pipe, and their worker sleeps', { timeout: 60_000 }, async () => {
  const threads = () => readdirSync('/proc/self/task');
  const others = new Set(threads());
  const worker = await startRelayWorker(assert.fail);
  const [thread = assert.fail('the worker is a thread'), ...more] = threads().filter((id) => !others.has(id));
  assert.deepEqual(more, []);
  const lanes = await createLanes(createSpliceRelay([worker], { chunks: 0, bytes: 0 }));
  const open = async () => roundTrips(await lanes.open(), 4);
  const pipes = () => readdirSync('/proc/self/fd').filter((fd) => isKernelObject(fd, /^pipe:/)).length;
  await open();
  const before = pipes();
  for (let i = 1; i < 50; i += 1) await open();
  assert.equal(worker.load(), 50);
  assert.equal(pipes(), before);

  const timesRun = () => {
    const [, , times] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(times);
  };
  const slept = await settled(timesRun);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(timesRun(), slept);
  lanes.hangUp();
  await until(() => worker.load() === 0);
  await lanes.close();
  await worker.close();
});

test('a closed worker leaves neither pipes nor its epoll set', async () => {
  const special = () => readdirSync('/proc/self/fd').filter((fd) => isKernelObject(fd)).length;
  const before = special();
  const worker = await startRelayWorker(assert.fail);
  assert.ok(special() > before);
  await worker.close();
  await until(() => special() <= before);
});

test('auto takes splice on Linux; stream is stream; what is missing is said once', async () => {
  const lines: string[] = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const chosen = await chooseRelay('auto', { log, random: Math.random, workers: 1 });
  assert.equal(chosen.name, 'splice');
  await chosen.close();
  assert.equal((await chooseRelay('stream', { log, random: Math.random })).name, 'stream');
  assert.deepEqual(lines, []);

  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...platform, value: 'plan9' });
  try {
    assert.equal((await chooseRelay('auto', { log, random: Math.random, workers: 1 })).name, 'stream');
    assert.deepEqual(lines, ['relaying with streams']);
    await assert.rejects(
      chooseRelay('splice', { log, random: Math.random, workers: 1 }),
      /does not work here/,
    );
  } finally {
    Object.defineProperty(process, 'platform', platform);
  }
});

test('without koffi auto is stream, and says why', (t) => {
  const hide = script(
    t,
    'hide-koffi.cjs',
    `const { _load } = require('module');
    require('module')._load = function (name) {
      if (name === 'koffi') throw new Error('koffi is hidden');
      return _load.apply(this, arguments);
    };`,
  );
  const choose = script(
    t,
    'choose.mjs',
    `import { chooseRelay } from '${new URL('../../src/relay/choose.js', import.meta.url)}';
    const info = (fields, message) => console.log(message + ': ' + fields.reason);
    console.log((await chooseRelay('auto', { log: { info } })).name);`,
  );
  const out = execFileSync(process.execPath, ['--require', hide, choose]);
  assert.equal(out.toString(), 'relaying with streams: koffi is hidden\nstream\n');
});

test('a process that exits with a relay worker asleep is not held up', (t) => {
  const exit = script(
    t,
    'exit.mjs',
    `import { startRelayWorker } from '${new URL('../../src/relay/splice/relay-worker.js', import.meta.url)}';
    await startRelayWorker(() => {});
    process.exit(7);`,
  );
  const ran = spawnSync(process.execPath, [exit], { timeout: 20_000 });
  assert.deepEqual([ran.status, ran.signal], [7, null]);
});

function script(t: TestContext, name: string, code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), code);
  return join(folder, name);
}

function isKernelObject(fd: string, kind = /eventpoll|eventfd|pipe:/): boolean {
  try {
    return kind.test(readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    return false;
  }
}
