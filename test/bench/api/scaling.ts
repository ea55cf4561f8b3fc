// The gain of more workers: connections, bulk and datagrams of six players, whose accounts are spread evenly over one, two and
// three workers.
import { workerOf } from '../../../src/proxy/memory/hash.js';
import { startTestDaemon } from '../../helpers/daemon.js';
import type { Scope } from '../../helpers/suite.js';
import type { Load, Numbers, Route } from '../load.js';
import { type ApiMeasure, type Group, OURS, withCpu } from './measure.js';

const PASSWORD = 'secret';
const PLAYERS = 6;
const WORKERS = [1, 2, 3];

interface Subject {
  readonly name: string;
  readonly pid: number;
  /** One for each player. */
  readonly routes: readonly Route[];
}

export function scalingGroup(load: Load, scale: number): Group {
  return {
    name: 'scaling over workers',
    async open(t) {
      const target = await load.target(t);
      const subjects: Subject[] = [];
      for (const workers of WORKERS) subjects.push(await start(t, workers));
      const connections = Math.ceil(2_000 * scale);
      const megabytes = Math.ceil(700 * scale);
      const packets = Math.ceil(30_000 * scale);

      const measure = (
        name: string,
        [mode, ...options]: readonly string[],
        work: { readonly each: number; readonly rate: string; readonly cpu: string },
      ): ApiMeasure => ({
        name: `${name}, ${PLAYERS} players`,
        moreIsBetter: [work.rate],
        sides: subjects.map(({ name: subject, pid, routes }) => ({
          name: subject,
          async run() {
            const total = work.each * PLAYERS;
            const { numbers, cpuUs } = await withCpu(pid, total, () =>
              together(load, mode ?? '', routes, target, options),
            );
            return { [work.rate]: total / (numbers['seconds'] ?? 1), [work.cpu]: cpuUs };
          },
        })),
      });
      return [
        measure(
          'login + CONNECT + echo + close, 8 at once each',
          ['rate', '-c', '8', '-n', `${connections}`],
          {
            each: connections,
            rate: 'connections/s',
            cpu: 'CPU µs each',
          },
        ),
        measure(
          'download, 2 flows each',
          ['tput', '-d', 'down', '-c', '2', '-b', `${(megabytes * 1e6) / 2}`],
          {
            each: megabytes,
            rate: 'MB/s',
            cpu: 'CPU µs/MB',
          },
        ),
        measure('upload, 2 flows each', ['tput', '-d', 'up', '-c', '2', '-b', `${(megabytes * 1e6) / 2}`], {
          each: megabytes,
          rate: 'MB/s',
          cpu: 'CPU µs/MB',
        }),
        measure(
          'UDP echo, 200 bytes, 16 in flight each',
          ['udp', '-s', '200', '-c', '16', '-n', `${packets}`],
          {
            each: packets,
            rate: 'packets/s',
            cpu: 'CPU µs each',
          },
        ),
      ];
    },
  };
}

/** Returns user names of which each worker gets the same number, with one, two or three workers. */
function usernames(): string[] {
  const found = new Map<number, string>();
  for (let i = 0; found.size < PLAYERS; i += 1) {
    const name = `player${i}`;
    const worker = workerOf(Buffer.from(name), PLAYERS);
    if (!found.has(worker)) found.set(worker, name);
  }
  return [...found.values()];
}

async function start(t: Scope, workers: number): Promise<Subject> {
  const daemon = await startTestDaemon(t, { config: { socks: { workers } } });
  const users = usernames();
  for (const user of users) await daemon.addAccount(user, PASSWORD);
  return {
    // The baseline of the comparison.
    name: workers === 1 ? '1 worker' : `${OURS}, ${workers} workers`,
    pid: daemon.pid,
    routes: users.map((user) => ({ proxyPort: daemon.socks.port, user, password: PASSWORD })),
  };
}

/** One load generator for each player. */
async function together(
  load: Load,
  mode: string,
  routes: readonly Route[],
  target: number,
  options: readonly string[],
): Promise<Numbers> {
  const startedAt = performance.now();
  await Promise.all(routes.map((route) => load.run(mode, route, target, options)));
  return { seconds: (performance.now() - startedAt) / 1000 };
}
