// `npm run bench`: measures the daemon and the installed peers in turn, so that changes of the machine's speed affect all equally.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Scope } from '../helpers/suite.js';
import { benchApi } from './api/bench.js';
import { benchCurves } from './curves/curves.js';
import { buildLoad } from './load.js';
import { type Measure, measures, warmUp } from './measures.js';
import { print, type Series, showProgress } from './report.js';
import { type Server, startServers } from './servers.js';

const USAGE = `npm run bench -- [options]          or: npm run bench -- api --help, npm run bench -- curves --help
  --repeats N     runs of each measure and server; the table shows their median (5)
  --scale X       amount of work in each run (1; 0.2 is quick and rough)
  --only TEXT     measures whose name contains TEXT
  --servers TEXT  servers whose name contains TEXT
  --json FILE     writes all numbers, not only medians
Use an idle machine; the JSON contains the load before each run.`;

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
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  const scope = { after: (close: () => unknown) => void closers.push(close) };
  try {
    const load = buildLoad(folder);
    const targets = { bulk: await load.target(scope), echo: await load.target(scope) };
    const startMatching = async (t: Scope, name: string): Promise<Server[]> => {
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
          // A new target for each server: thousands of connections in TIME_WAIT use up the ports towards one target.
          const measured = measure.onlyFirst ? { ...targets, echo: await load.target(scope) } : targets;
          const numbers = await orReport(server, measure.name, measure.run(load, measured, server));
          if (numbers === null) continue;
          const key = `${measure.name}/${server.name}`;
          const series = all.get(key) ?? { measure: measure.name, server: server.name, runs: [], loads: [] };
          all.set(key, series);
          series.loads.push(loadBefore);
          series.runs.push(numbers);
        }
      }
    };
    const firstMeasures = list.filter(({ onlyFirst }) => onlyFirst);
    // Separate servers: not every peer survives thousands of sessions.
    if (firstMeasures.length > 0) {
      const freshClosers: (() => unknown)[] = [];
      const fresh = await startMatching({ after: (close) => void freshClosers.push(close) }, 'fresh-');
      await measureAll(fresh, firstMeasures, 'first').finally(async () => {
        for (const close of freshClosers.reverse()) await close();
      });
    }
    const servers = await startMatching(scope, 'warm-');
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
    for (const close of closers.reverse()) await close();
  }
}

/** Resolves with null, after a message, for a server that cannot do a measure, such as a peer with too few connections. */
async function orReport<T>({ name }: Server, measure: string, running: Promise<T>): Promise<T | null> {
  try {
    return await running;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${name} failed at: ${measure}: ${reason}\n`);
    return null;
  }
}

const [command, ...args] = process.argv.slice(2);
const run = command === 'api' ? benchApi(args) : command === 'curves' ? benchCurves(args) : main();
run.catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
