// The measures, in the order of the table. Each run of a measure on a server returns a few named numbers.
import { setTimeout as delay } from 'node:timers/promises';
import type { Load, Numbers } from './load.js';
import { cpuSeconds, memoryBytes } from './processes.js';
import type { Server } from './servers.js';

/** Two targets, so that the echo of a mixed load does not wait for the bulk flows of its target. */
export interface Targets {
  readonly bulk: number;
  readonly echo: number;
}

export interface Measure {
  readonly name: string;
  /** The numbers of which more is better. Of the others, less is better. */
  readonly moreIsBetter: readonly string[];
  readonly needsUdp?: boolean;
  /** Measured once, on a new server: memory of earlier runs would be counted too. */
  readonly onlyFirst?: boolean;
  run(load: Load, targets: Targets, server: Server): Promise<Numbers>;
}

/** Connections before the measures of a server on Node: then its code is compiled, as after weeks of use. */
const WARM_UP_CONNECTIONS = 6000;

export async function warmUp(load: Load, { echo }: Targets, server: Server): Promise<void> {
  if (!server.isOnNode) return;
  await load.run('rate', server, echo, ['-n', String(WARM_UP_CONNECTIONS), '-c', '32']);
}

/** With `scale` 1 each server takes one or two minutes for each repeat. */
export function measures(scale: number): Measure[] {
  const gigabytes = 2 * scale;
  const connections = Math.ceil(5000 * scale);
  const rounds = Math.ceil(20_000 * scale);
  const packets = Math.ceil(100_000 * scale);
  return [
    idleMemory(8000),
    ...[1, 16].flatMap((flows) =>
      (['down', 'up'] as const).map((direction) => throughput(direction, flows, gigabytes)),
    ),
    {
      name: '64-byte round trip',
      moreIsBetter: [],
      async run(load, { echo }, server) {
        const before = cpuSeconds(server.pid);
        const result = await load.run('ping', server, echo, ['-n', String(rounds)]);
        return { ...latency(result), 'CPU µs each': ((cpuSeconds(server.pid) - before) / rounds) * 1e6 };
      },
    },
    // The bulk comes in bursts of 8 MB every 80 ms: the round trips must last for many of them.
    pingBesideBulk('64-byte round trip beside 8 bulk flows of 100 MB/s together', 10_000, ['-r', '1e8']),
    pingBesideBulk('64-byte round trip beside 8 bulk flows as fast as they go', 1_000, []),
    {
      name: 'UDP echo, 200 bytes, 32 in flight',
      moreIsBetter: ['packets/s'],
      needsUdp: true,
      async run(load, { echo }, server) {
        const before = cpuSeconds(server.pid);
        const options = ['-n', String(packets), '-s', '200', '-c', '32'];
        const result = await load.run('udp', server, echo, options);
        return {
          'packets/s': result['packetsPerSecond'] ?? 0,
          'CPU µs each': ((cpuSeconds(server.pid) - before) / packets) * 1e6,
          ...latency(result),
          lost: result['lost'] ?? 0,
        };
      },
    },
    // Last: some peers refuse connections for a while after so many.
    {
      name: 'login + CONNECT + echo + close, 32 at once',
      moreIsBetter: ['connections/s'],
      async run(load, { echo }, server) {
        const before = cpuSeconds(server.pid);
        const options = ['-n', String(connections), '-c', '32'];
        const result = await load.run('rate', server, echo, options);
        return {
          'connections/s': result['connectionsPerSecond'] ?? 0,
          'CPU µs each': ((cpuSeconds(server.pid) - before) / connections) * 1e6,
          'p99 ms': (result['p99Us'] ?? 0) / 1000,
          failed: result['failed'] ?? 0,
        };
      },
    },
  ];
}

/** Memory of `held` sessions that have logged in, sent one byte, and are idle. */
function idleMemory(held: number): Measure {
  return {
    name: `memory of an idle session, ${held} held`,
    moreIsBetter: [],
    onlyFirst: true,
    async run(load, { echo }, server) {
      const before = memoryBytes(server.pid);
      const seconds = 2 + held / 2000;
      // The sessions are held for as long as this function waits, so they are open when it reads the memory.
      const holding = load.run('idle', server, echo, ['-c', String(held), '-w', String(seconds)]);
      const failed = holding.then(
        () => null,
        (error: unknown) => error,
      );
      await Promise.race([delay(seconds * 1000), failed]);
      const during = memoryBytes(server.pid);
      await holding;
      return { 'KiB each': (during - before) / held / 1024, 'MiB without': before / 1024 / 1024 };
    },
  };
}

/** @param pace options of tput: with all cores busy the scheduler of the system is measured, so one measure limits the rate */
function pingBesideBulk(name: string, rounds: number, pace: readonly string[]): Measure {
  return {
    name,
    moreIsBetter: ['MB/s beside'],
    async run(load, { bulk, echo }, server) {
      const options = ['-d', 'down', '-c', '8', '-b', '1e12', '-w', '2.5', ...pace];
      const bulkFlows = load.run('tput', server, bulk, options);
      const pinging = delay(500).then(() => load.run('ping', server, echo, ['-n', String(rounds)]));
      const [result, bulkResult] = await Promise.all([pinging, bulkFlows]);
      return { ...latency(result), 'MB/s beside': bulkResult['megabytesPerSecond'] ?? 0 };
    },
  };
}

function throughput(direction: 'up' | 'down', flows: number, gigabytes: number): Measure {
  return {
    name: `${direction === 'up' ? 'upload' : 'download'}, ${flows} ${flows === 1 ? 'flow' : 'flows'}`,
    moreIsBetter: ['MB/s'],
    async run(load, { bulk }, server) {
      const before = cpuSeconds(server.pid);
      const options = ['-d', direction, '-c', String(flows), '-b', String((gigabytes * 1e9) / flows)];
      const result = await load.run('tput', server, bulk, options);
      return {
        'MB/s': result['megabytesPerSecond'] ?? 0,
        'CPU s/GB': (cpuSeconds(server.pid) - before) / gigabytes,
      };
    },
  };
}

function latency(result: Numbers): Numbers {
  return { 'p50 µs': result['p50Us'] ?? 0, 'p99 µs': result['p99Us'] ?? 0 };
}
