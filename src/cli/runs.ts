// `pulsegate run`: what agents did and are to do.
import { type Command, Option } from 'commander';
import { RUN_STATUSES, type Run, type RunStatus } from '../core/agents/runs.js';
import type { Store } from '../store/store.js';
import { type AddCommands, CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { readLimit } from './options.js';
import { withCore } from './store.js';
import { formatMoment, printFields, printTable } from './table.js';

const LISTED = 50;
/** How many runs are named where the beginning of an id is that of several. */
const SHOWN_MATCHES = 10;

export const addRunCommands: AddCommands = (program, around) => {
  const run = program.command('run').description('what agents did and are to do');
  addRunList(run, around);
  addRunShow(run, around);
};

interface ListOptions {
  agent?: string;
  session?: string;
  status?: RunStatus;
  limit: number;
  json?: true;
}

function addRunList(run: Command, around: Surroundings): void {
  run
    .command('list')
    .description('runs, newest first')
    .option('--agent <name>', 'only of this agent')
    .option('--session <key>', 'only in this conversation')
    .addOption(new Option('--status <status>', 'only in this state').choices(RUN_STATUSES))
    .option('--limit <n>', 'at most so many', readLimit, LISTED)
    .option('--json', 'as JSON')
    .action(async ({ json, ...filter }: ListOptions, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ store }) => {
        const runs = await store.runs.list(filter);
        if (json) return printJson(around, runs.map(presentRun));
        if (runs.length === 0) return printLine(around.stderr, 'There are no such runs.');
        printTable(
          around,
          ['ID', 'AGENT', 'SESSION', 'STATUS', 'TRY', 'ACCEPTED', 'DELIVERY', 'MESSAGE'],
          runs.map((each) => [
            each.id,
            each.agent,
            each.session ?? '-',
            each.status,
            String(each.attempt),
            formatMoment(each.acceptedAt, '-'),
            each.delivery,
            each.kind === 'wake' ? '(wake)' : (each.message ?? ''),
          ]),
        );
      });
    });
}

function addRunShow(run: Command, around: Surroundings): void {
  run
    .command('show')
    .argument('<id>', 'as `run list` prints it, or how only one begins')
    .description('one run: its message, its reply, and how it was delivered')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ store }) => {
        const found = await findRun(store, id.toLowerCase());
        const deliveries = (await store.deliveries.ofRun(found.id)).map(({ runId: _, ...each }) => ({
          ...each,
          startedAt: iso(each.startedAt),
          finishedAt: iso(each.finishedAt),
        }));
        if (options.json) return printJson(around, { ...presentRun(found), deliveries });
        printFields(around, [
          ['id', found.id],
          ['kind', found.kind],
          ['agent', found.agent],
          ['session', found.session ?? '-'],
          ['from', found.rerunOf === null ? found.origin : `${found.origin}, again after ${found.rerunOf}`],
          ['status', found.error === null ? found.status : `${found.status}: ${found.error}`],
          ['tries', String(found.attempt)],
          ['accepted', formatMoment(found.acceptedAt, '-')],
          ['started', formatMoment(found.startedAt, 'not yet')],
          ['finished', formatMoment(found.finishedAt, 'not yet')],
          ['message', found.message ?? '-'],
          ['reply', found.reply ?? '-'],
          ['delivery', found.delivery],
          ...deliveries.map(
            (each) =>
              [`  try ${each.attempt}`, `${each.channel} at ${each.finishedAt}: ${each.detail}`] as const,
          ),
        ]);
      });
    });
}

/** The run of this id, or the only one whose id begins so. */
async function findRun({ runs }: Store, id: string): Promise<Run> {
  const none = () => new CommandError(`There is no run ${JSON.stringify(id)}. See: pulsegate run list`);
  if (!/^[0-9a-f-]{1,36}$/.test(id)) throw none();
  const matching = await runs.list({ idPrefix: id, limit: SHOWN_MATCHES + 1 });
  const [only] = matching;
  if (only === undefined) throw none();
  if (matching.length > 1) {
    const shown = matching.slice(0, SHOWN_MATCHES).map((run) => `  ${run.id}`);
    const more = matching.length > SHOWN_MATCHES ? ['  …'] : [];
    const text = `More than one run begins with ${id}; give more of the id:`;
    throw new CommandError([text, ...shown, ...more].join('\n'));
  }
  // A list has only the beginning of long texts.
  const run = await runs.get(only.id);
  if (!run) throw none();
  return run;
}

/** A run as the admin API shows it. */
export function presentRun(run: Run) {
  return {
    ...run,
    acceptedAt: iso(run.acceptedAt),
    startedAt: iso(run.startedAt),
    finishedAt: iso(run.finishedAt),
    nextDeliveryAt: iso(run.nextDeliveryAt),
  };
}

/** A moment as the admin API shows it. */
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
