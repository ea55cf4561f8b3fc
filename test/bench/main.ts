// `npm run bench`: this server and the installed peers on this machine, in turn, so that its drift hits all alike.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Scope } from '../helpers/suite.js';
import { benchApi } from './api/bench.js';
import { buildLoad } from './load.js';
import { type Measure, measures, warmUp } from './measures.js';
import { print, type Series, showProgress } from './report.js';
import { type Server, startServers } from './servers.js';

const USAGE = `npm run bench -- [options]          or: npm run bench -- api --help
  --repeats N     runs of each measure and server, of which the median counts (5)
  --scale X       amount of work in each run (1; 0.2 is quick and rough)
  --only TEXT     measures whose name holds TEXT
  --servers TEXT  servers whose name holds TEXT
  --json FILE     all numbers, not only medians
Use a machine that does nothing else; the load before each run is kept in the JSON.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      repeats: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      servers: { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  const scope = { after: (run: () => unknown) => void undo.push(run) };
  try {
    const load = buildLoad(folder);
    const targets = { bulk: await load.target(scope), echo: await load.target(scope) };
    const started = async (t: Scope, name: string): Promise<Server[]> => {
      const servers = await startServers(t, mkdtempSync(join(folder, name)));
      return servers.filter((server) => server.name.includes(values.servers));
    };
    const list = measures(Number(values.scale)).filter(({ name }) => name.includes(values.only));
    const all = new Map<string, Series & { loads: number[] }>();
    const measureAll = async (
      servers: readonly Server[],
      chosen: readonly Measure[],
      when: string,
    ): Promise<void> => {
      for (const measure of chosen) {
        for (const server of servers) {
          if (measure.needsUdp && !server.hasUdp) continue;
          showProgress(`${when} ${measure.name}: ${server.name}`);
          const loadBefore = loadavg()[0] ?? 0;
          // A target of its own: the ports of thousands of connections in TIME_WAIT must last for all servers.
          const at = measure.onlyFirst ? { ...targets, echo: await load.target(scope) } : targets;
          const numbers = await orReport(server, measure.name, measure.run(load, at, server));
          if (numbers === null) continue;
          const key = `${measure.name}/${server.name}`;
          const series = all.get(key) ?? { measure: measure.name, server: server.name, runs: [], loads: [] };
          all.set(key, series);
          series.loads.push(loadBefore);
          series.runs.push(numbers);
        }
      }
    };
    const once = list.filter(({ onlyFirst }) => onlyFirst);
    // Servers of their own: not every peer lives through thousands of sessions.
    if (once.length > 0) {
      const stop: (() => unknown)[] = [];
      const fresh = await started({ after: (run) => void stop.push(run) }, 'fresh-');
      await measureAll(fresh, once, 'first').finally(async () => {
        for (const run of stop.reverse()) await run();
      });
    }
    const servers = await started(scope, 'warm-');
    for (const server of servers) await orReport(server, 'warming up', warmUp(load, targets, server));
    for (let repeat = 1; repeat <= Number(values.repeats); repeat += 1) {
      await measureAll(
        servers,
        list.filter(({ onlyFirst }) => !onlyFirst),
        `${repeat}/${values.repeats}`,
      );
    }
    print(list, [...all.values()], { ratioTo: 'best peer', json: values.json });
  } finally {
    for (const run of undo.reverse()) await run();
  }
}

/** A server that cannot do a measure (a peer without that many places, say) is left out of it; null then. */
async function orReport<T>({ name }: Server, what: string, running: Promise<T>): Promise<T | null> {
  try {
    return await running;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${name} failed at: ${what}: ${reason}\n`);
    return null;
  }
}

const run = process.argv[2] === 'api' ? benchApi(process.argv.slice(3)) : main();
run.catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
