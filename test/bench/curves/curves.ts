// `npm run bench -- curves`: what it costs when accounts, idle sessions and busy flows grow, with the peers, as tables and as pictures.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { descriptorLimit } from '../../../src/parts/capacity.js';
import { PROJECT } from '../../helpers/daemon.js';
import type { Scope } from '../../helpers/suite.js';
import { inScope } from '../api/measure.js';
import { buildLoad, type Load, type Numbers } from '../load.js';
import { cpuSeconds, memoryBytes } from '../processes.js';
import { describeMachine, medians, showProgress } from '../report.js';
import { BARE, type Server, startServers } from '../servers.js';
import { measureAccounts, measureLogins } from './accounts.js';
import { drawCurves } from './svg.js';

const USAGE = `npm run bench -- curves [options]
  --repeats N    runs of each point; the medians count (3)
  --most N       leaves out points above it, such as 100000
  --settle N     seconds before the memory of many accounts is read (125)
  --only TEXT    families whose name contains TEXT: accounts, idle-sessions, busy-flows
  --out FOLDER   for the pictures (test/bench)
50,000 sessions need 120,000 descriptors (ulimit -n): without them that point is left out.`;

/** Sessions of one load generator: one address has about 28,000 ports. */
const SESSIONS_PER_LOAD = 17_000;
/** Descriptors for each session: two sockets, and what the daemon reserves for other work. */
const DESCRIPTORS_EACH = 2.4;
/** Of each run, and at least of each flow: what waits in the buffers of the system when the run begins must be little of it. */
const BYTES = 2e9;
const LEAST_BYTES_EACH = 10e6;

interface Family {
  readonly name: string;
  readonly title: string;
  readonly xLabel: string;
  readonly points: readonly number[];
  /** The numbers that are drawn; all are in the table. `isLog`: see Panel. */
  readonly panels: readonly { readonly number: string; readonly title: string; readonly isLog?: boolean }[];
  /** Measures all servers at one point, as often as it says. */
  measure(load: Load, point: number, add: (server: string, numbers: Numbers) => void): Promise<void>;
}

const ours = ({ name }: Server): boolean => name === 'pulsegate (native)';
/** The daemon once, and no bare server, which nobody chooses. */
const isShown = (server: Server): boolean =>
  ours(server) || !(server.name.startsWith('pulsegate') || server.name === BARE);
/** Dante has a process for few sessions: more of them fill the memory of a small machine. */
const MOST_OF_DANTE = 8_000;

function families(repeats: number, settleMs: number): Family[] {
  return [
    {
      name: 'accounts',
      title: 'Accounts: logins of any of them, with CONNECT, one byte echoed, and close',
      xLabel: 'accounts (the peers have one)',
      points: [10, 1_000, 100_000, 1_000_000],
      panels: [
        { number: 'connections/s', title: 'connections a second, 32 at once' },
        { number: 'CPU µs each', title: 'CPU a connection, µs' },
        { number: 'p99 ms', title: 'p99 of login, CONNECT and echo, ms' },
        { number: 'MiB anonymous', title: 'anonymous memory before the logins, MiB', isLog: true },
      ],
      async measure(load, point, add) {
        await inScope((t) =>
          measureAccounts(t, load, point, { repeats, settleMs }, (numbers) =>
            add('pulsegate (native)', numbers),
          ),
        );
        if (point !== 10) return;
        await withServers(repeats, async (t, server) => {
          if (ours(server)) return;
          const memory = { 'MiB anonymous': memoryBytes(server.pid, 'Pss_Anon') / 2 ** 20 };
          add(server.name, { ...(await measureLogins(t, load, server)), ...memory });
        });
      },
    },
    {
      name: 'idle-sessions',
      title: 'Idle sessions: logged in, one byte sent, held in a fresh server',
      xLabel: 'sessions',
      points: [100, 1_000, 3_000, 8_000, 50_000],
      panels: [
        { number: 'MiB', title: 'memory of the process, MiB', isLog: true },
        { number: 'KiB each', title: 'memory of a session, KiB', isLog: true },
      ],
      async measure(load, point, add) {
        const needed = point * DESCRIPTORS_EACH;
        if (descriptorLimit() < needed)
          return void process.stderr.write(`${point} sessions need ${needed} descriptors: left out\n`);
        await withServers(1, async (t, server) => {
          if (server.name.startsWith('dante') && point > MOST_OF_DANTE) return;
          add(server.name, await holdSessions(t, load, server, point));
        });
      },
    },
    {
      name: 'busy-flows',
      title: 'Busy flows of one account: downloads at once',
      xLabel: 'flows',
      points: [1, 10, 100, 1_000],
      panels: [
        { number: 'MB/s', title: 'all flows together, MB/s' },
        { number: 'CPU s/GB', title: 'CPU, seconds a GB', isLog: true },
      ],
      async measure(load, point, add) {
        await withServers(repeats, async (t, server) => {
          const target = await load.target(t);
          const before = cpuSeconds(server.pid);
          const each = Math.max(BYTES / point, LEAST_BYTES_EACH);
          const options = ['-d', 'down', '-c', String(point), '-b', String(each)];
          const result = await load.run('tput', server, target, options);
          const seconds = cpuSeconds(server.pid) - before;
          add(server.name, {
            'MB/s': result['megabytesPerSecond'] ?? 0,
            'CPU s/GB': seconds / ((each * point) / 1e9),
          });
        });
      },
    },
  ];
}

/** Starts all servers anew, and calls `work` for each of them in turn, `repeats` times. What one cannot do is reported and left out. */
async function withServers(
  repeats: number,
  work: (t: Scope, server: Server) => Promise<void>,
): Promise<void> {
  await inScope(async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pulsegate-curves-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const servers = (await startServers(t, folder)).filter(isShown);
    for (let i = 0; i < repeats; i += 1)
      for (const server of servers) {
        showProgress(`${i + 1}/${repeats} ${server.name}`);
        // Each run has a target of its own, which ends with it.
        await inScope((run) => work(run, server)).catch((error: unknown) => {
          process.stderr.write(`${server.name}: ${error instanceof Error ? error.message : String(error)}\n`);
        });
      }
  });
}

async function holdSessions(t: Scope, load: Load, server: Server, count: number): Promise<Numbers> {
  const before = memoryBytes(server.pid);
  const loads = Math.ceil(count / SESSIONS_PER_LOAD);
  const seconds = 3 + Math.min(60, count / 400);
  const holding = Promise.all(
    Array.from({ length: loads }, async (_, i) => {
      const each = String(Math.ceil(count / loads));
      const options = ['-c', each, '-w', String(seconds), '-f', String(2 + i)];
      return await load.run('idle', server, await load.target(t), options);
    }),
  );
  const failed = holding.then(
    () => null,
    (error: unknown) => error,
  );
  await Promise.race([delay(seconds * 1_000), failed]);
  const during = memoryBytes(server.pid);
  const held = await holding;
  if (held.some(({ openSeconds = 0 }) => openSeconds > seconds - 1))
    throw new Error(`${count} sessions were not open in time`);
  return { MiB: during / 2 ** 20, 'KiB each': Math.max(0.01, (during - before) / count / 1024) };
}

/** @param args the command line after `curves` */
export async function benchCurves(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repeats: { type: 'string', default: '3' },
      most: { type: 'string', default: 'Infinity' },
      settle: { type: 'string', default: '125' },
      only: { type: 'string', default: '' },
      out: { type: 'string', default: join(PROJECT, 'test/bench') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const all = families(Number(values.repeats), Number(values.settle) * 1_000);
  await inScope(async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pulsegate-curves-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const load = buildLoad(folder);
    for (const family of all.filter(({ name }) => name.includes(values.only))) {
      const measured = await measureFamily(load, family, Number(values.most));
      showProgress('');
      process.stdout.write(`${family.title}\n\n${tableOf(family, measured)}\n\n`);
      writeFileSync(join(values.out, `${family.name}.svg`), pictureOf(family, measured));
    }
  });
  process.stdout.write(`${Object.entries(describeMachine()).flat().join(' ')}\n`);
}

/** The medians by server and point. */
type Measured = ReadonlyMap<string, ReadonlyMap<number, Numbers>>;

async function measureFamily(load: Load, family: Family, most: number): Promise<Measured> {
  const measured = new Map<string, Map<number, Numbers>>();
  for (const point of family.points.filter((each) => each <= most)) {
    const runs = new Map<string, Numbers[]>();
    await family.measure(load, point, (server, numbers) => {
      runs.set(server, [...(runs.get(server) ?? []), numbers]);
    });
    for (const [server, own] of runs) {
      const byPoint = measured.get(server) ?? new Map<number, Numbers>();
      byPoint.set(point, medians({ measure: family.name, server, runs: own }));
      measured.set(server, byPoint);
    }
  }
  return measured;
}

function tableOf({ xLabel }: Family, measured: Measured): string {
  const rows = [...measured].flatMap(([server, byPoint]) =>
    [...byPoint].map(([point, numbers]) => {
      const cells = Object.entries(numbers).map(([name, value]) => `${Number(value.toPrecision(3))} ${name}`);
      return `| ${server} | ${point} | ${cells.join(', ')} |`;
    }),
  );
  return [`| server | ${xLabel} | medians |`, '|---|---|---|', ...rows].join('\n');
}

function pictureOf({ title, xLabel, panels, points }: Family, measured: Measured): string {
  const last = Math.max(...[...measured.values()].flatMap((byPoint) => [...byPoint.keys()]));
  return drawCurves(
    title,
    xLabel,
    panels.map(({ number, title: panelTitle, isLog = false }) => ({
      title: panelTitle,
      isLog,
      curves: [...measured].flatMap(([server, byPoint]) => {
        const own = [...byPoint].flatMap(([x, numbers]) => {
          const y = numbers[number];
          return y === undefined ? [] : [{ x, y }];
        });
        const [only] = own;
        // What does not depend on it is a level line.
        const isLevel = own.length === 1 && only?.x === points[0];
        const curve = isLevel && only ? [only, { x: Math.max(last, only.x), y: only.y }] : own;
        return curve.length === 0 ? [] : [{ server, points: curve }];
      }),
    })),
  );
}
