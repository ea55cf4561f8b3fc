// `npm run bench -- api`: the management plane, heartbeats and webhooks of the built daemon, each beside something
// measured in the same run, one after the other in turn, so that the machine's drift hits both.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Outcome, print, type Series, showProgress } from '../report.js';
import { importGroup, readingGroup, writingGroup } from './accounts.js';
import { heartbeatGroup } from './heartbeats.js';
import type { ApiMeasure, Group } from './measure.js';
import { webhookGroup } from './webhooks.js';

const USAGE = `npm run bench -- api [options]
  --repeats N   runs of each measure, of which the median counts (5)
  --scale X     amount of work in each run, and below 1 of accounts too (1; 0.2 is quick and rough)
  --only TEXT   groups whose name holds TEXT: reading, writing, logins, heartbeats, webhooks
  --json FILE   all numbers, not only medians
Use a machine that does nothing else; the load before each run is kept in the JSON.`;

/** @param args what stands behind `api` */
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
  for (const group of groups(Number(values.scale)).filter(({ name }) => name.includes(values.only))) {
    showProgress(`${group.name}: starting`);
    const { measures, outcomes } = await runGroup(group, Number(values.repeats));
    list.push(...measures);
    all.push(...outcomes);
  }
  print(list, all, { ratioTo: 'the best of the others', json: values.json });
}

function groups(scale: number): Group[] {
  const accounts = (count: number): number => Math.ceil(count * Math.min(scale, 1));
  return [
    readingGroup(accounts(10_000), scale),
    readingGroup(accounts(100_000), scale),
    writingGroup(scale),
    importGroup(accounts(100_000)),
    heartbeatGroup(scale),
    webhookGroup(scale),
  ];
}

async function runGroup(group: Group, repeats: number) {
  const undo: (() => unknown)[] = [];
  try {
    const measures = await group.open({ after: (close) => void undo.push(close) });
    const outcomes = measures.flatMap((measure) =>
      measure.sides.map(({ name, run }) => ({
        measure: measure.name,
        server: name,
        run,
        runs: [] as Series['runs'],
        loads: [] as number[],
      })),
    );
    // The first round warms up and does not count.
    for (let repeat = 0; repeat <= repeats; repeat += 1) {
      for (const { measure, server, run, runs, loads } of outcomes) {
        showProgress(`${repeat}/${repeats} ${measure}: ${server}`);
        const load = loadavg()[0] ?? 0;
        const numbers = await run();
        if (repeat === 0) continue;
        loads.push(load);
        runs.push(numbers);
      }
    }
    return { measures, outcomes: outcomes.map(({ run: _, ...outcome }) => outcome) };
  } finally {
    for (const close of undo.reverse()) await close();
  }
}
