// `npm run bench -- api`: the admin API, heartbeats, webhooks and workers of the built daemon, each beside a lower bound
// that is measured in the same run, in turn, so that changes of the machine's speed affect both.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildLoad, type Load, type Numbers } from '../load.js';
import { type Outcome, print, showProgress } from '../report.js';
import { readingGroup, writingGroup } from './accounts.js';
import { heartbeatGroup } from './heartbeats.js';
import { buildHttpLoad, type SendHttp } from './http-load.js';
import { type ApiMeasure, type Group, inScope } from './measure.js';
import { playersGroup } from './players.js';
import { scalingGroup } from './scaling.js';
import { webhookGroup } from './webhooks.js';

const USAGE = `npm run bench -- api [options]
  --repeats N   runs of each measure; the table shows their median (5)
  --scale X     amount of work in each run, and below 1 of accounts too (1; 0.2 is quick and rough)
  --only TEXT   groups whose name contains TEXT: reading, writing, players, scaling, heartbeats, webhooks
  --json FILE   writes all numbers, not only medians
Use an idle machine; the JSON contains the load before each run.`;

/** @param args the command line after `api` */
export async function benchApi(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      repeats: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const list: ApiMeasure[] = [];
  const all: Outcome[] = [];
  await inScope(async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const chosen = groups(buildHttpLoad(folder), buildLoad(folder), Number(values.scale)).filter(({ name }) =>
      name.includes(values.only),
    );
    for (const group of chosen) {
      showProgress(`${group.name}: starting`);
      const { measures, outcomes } = await runGroup(group, Number(values.repeats));
      list.push(...measures);
      all.push(...outcomes);
    }
  });
  print(list, all, { ratioTo: 'the best of the others', json: values.json });
}

function groups(sendHttp: SendHttp, load: Load, scale: number): Group[] {
  const accounts = (count: number): number => Math.ceil(count * Math.min(scale, 1));
  return [
    readingGroup(sendHttp, accounts(10_000), scale),
    readingGroup(sendHttp, accounts(100_000), scale),
    writingGroup(sendHttp, scale),
    playersGroup(load, accounts(100_000), scale),
    scalingGroup(load, scale),
    heartbeatGroup(scale),
    webhookGroup(sendHttp, scale),
  ];
}

function runGroup(group: Group, repeats: number) {
  return inScope(async (t) => {
    const measures = await group.open(t);
    const outcomes: Outcome[] = [];
    for (const { name: measure, sides, startsAnew = false } of measures) {
      const series = sides.map(({ name, run }) => ({
        measure,
        server: name,
        run,
        runs: [] as Numbers[],
        loads: [] as number[],
      }));
      // Round 0 warms up and does not count.
      for (let repeat = startsAnew ? 1 : 0; repeat <= repeats; repeat += 1) {
        for (const { server, run, runs, loads } of series) {
          showProgress(`${repeat}/${repeats} ${measure}: ${server}`);
          const load = loadavg()[0] ?? 0;
          const numbers = await run();
          if (repeat === 0) continue;
          loads.push(load);
          runs.push(numbers);
        }
      }
      outcomes.push(...series.map(({ run: _, ...outcome }) => outcome));
    }
    return { measures, outcomes };
  });
}
