// Heartbeat entries: how many a second the pool records and the disk accepts, and the CPU time of 20,000 a second.
import type { Numbers } from '../load.js';
import type { SqliteJob } from './bare-sqlite.js';
import type { HeartbeatJob } from './heartbeat-part.js';
import { type Group, OURS, withCpu } from './measure.js';
import { startPart } from './parts.js';

const PER_SECOND = 20_000;

export function heartbeatGroup(scale: number): Group {
  return {
    name: 'heartbeats',
    async open(t) {
      const [heartbeats, sqlite] = await Promise.all([
        startPart(t, 'heartbeat-part'),
        startPart(t, 'bare-sqlite'),
      ]);
      const seconds = 6 * scale;
      const count = Math.ceil(100_000 * scale);
      return [
        {
          name: `heartbeats, ${PER_SECOND.toLocaleString('en')}/s`,
          moreIsBetter: [],
          sides: [
            {
              name: OURS,
              async run(): Promise<Numbers> {
                const job: HeartbeatJob = { kind: 'paced', perSecond: PER_SECOND, seconds };
                const { numbers, cpuUs } = await withCpu(heartbeats.pid, PER_SECOND * seconds, () =>
                  heartbeats.run(job),
                );
                return {
                  'entries/s': numbers['perSecond'] ?? 0,
                  'ms until on disk at most': numbers['behindMs'] ?? 0,
                  'waiting at most': numbers['pending'] ?? 0,
                  'MiB grown': numbers['grownMiB'] ?? 0,
                  'CPU µs each': cpuUs,
                };
              },
            },
          ],
        },
        {
          name: 'heartbeats, as many as the disk accepts',
          moreIsBetter: ['entries/s'],
          sides: [
            {
              name: OURS,
              async run(): Promise<Numbers> {
                const job: HeartbeatJob = { kind: 'flat-out', count };
                const { numbers, cpuUs } = await withCpu(heartbeats.pid, count, () => heartbeats.run(job));
                return {
                  'entries/s': numbers['perSecond'] ?? 0,
                  'CPU µs each': cpuUs,
                  'recorded/s': numbers['recordedPerSecond'] ?? 0,
                };
              },
            },
            {
              name: 'bare sqlite3, only the rows',
              async run(): Promise<Numbers> {
                const job: SqliteJob = { kind: 'heartbeat', count };
                const { numbers, cpuUs } = await withCpu(sqlite.pid, count, () => sqlite.run(job));
                return { 'entries/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs };
              },
            },
          ],
        },
      ];
    },
  };
}
