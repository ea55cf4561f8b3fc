// Heartbeat entries: how many the pool takes in and the disk keeps up with, and what 20,000 a second cost.
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
      const [ours, sqlite] = await Promise.all([startPart(t, 'heartbeat-part'), startPart(t, 'bare-sqlite')]);
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
                const { numbers, cpuUs } = await withCpu(ours.pid, PER_SECOND * seconds, () => ours.ask(job));
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
          name: 'heartbeats, as many as the disk takes',
          moreIsBetter: ['entries/s'],
          sides: [
            {
              name: OURS,
              async run(): Promise<Numbers> {
                const job: HeartbeatJob = { kind: 'flat-out', count };
                const { numbers, cpuUs } = await withCpu(ours.pid, count, () => ours.ask(job));
                return {
                  'entries/s': numbers['perSecond'] ?? 0,
                  'CPU µs each': cpuUs,
                  'taken in/s': numbers['takenPerSecond'] ?? 0,
                };
              },
            },
            {
              name: 'bare sqlite3, rows alone',
              async run(): Promise<Numbers> {
                const job: SqliteJob = { kind: 'heartbeat', count };
                const { numbers, cpuUs } = await withCpu(sqlite.pid, count, () => sqlite.ask(job));
                return { 'entries/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs };
              },
            },
          ],
        },
      ];
    },
  };
}
