// `pulsegate run`: lists and shows agent runs.
import { type Command, Option } from 'commander';
import { RUN_STATUSES, type Run, type RunStatus } from '../core/agents/runs.js';
import { presentDelivery, presentRun } from '../http/v1/agents/present.js';
import type { Store } from '../store/store.js';
import { type AddCommands, CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { parseLimit } from './options.js';
import { withCore } from './store.js';
import { formatTime, printFields, printTable } from './table.js';

const DEFAULT_LIMIT = 50;
/** The number of runs listed when an id prefix is ambiguous. */
const SHOWN_MATCHES = 10;

export const addRunCommands: AddCommands = (program, io) => {
  const run = program.command('run').description('list and show agent runs');
  addRunList(run, io);
  addRunShow(run, io);
};

interface ListOptions {
  agent?: string;
  session?: string;
  status?: RunStatus;
  limit: number;
  json?: true;
}

function addRunList(run: Command, io: CommandIo): void {
  run
    .command('list')
    .description('list runs, newest first')
    .option('--agent <name>', 'filter by agent')
    .option('--session <key>', 'filter by session key')
    .addOption(new Option('--status <status>', 'filter by status').choices(RUN_STATUSES))
    .option('--limit <n>', 'maximum number of runs', parseLimit, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async ({ json, ...filter }: ListOptions, command) => {
      await withCore(await load(command, io), async ({ store }) => {
        const runs = await store.runs.list(filter);
        if (json) return printJson(io, runs.map(presentRun));
        if (runs.length === 0) return printLine(io.stderr, 'No runs found.');
        printTable(
          io,
          ['ID', 'AGENT', 'SESSION', 'STATUS', 'TRY', 'ACCEPTED', 'DELIVERY', 'MESSAGE'],
          runs.map((each) => [
            each.id,
            each.agent,
            each.session ?? '-',
            each.status,
            String(each.attempt),
            formatTime(each.acceptedAt, '-'),
            each.delivery,
            each.kind === 'wake' ? '(wake)' : (each.message ?? ''),
          ]),
        );
      });
    });
}

function addRunShow(run: Command, io: CommandIo): void {
  run
    .command('show')
    .argument('<id>', 'run id or unique prefix')
    .description('show a run with its message, reply and deliveries')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: true }, command) => {
      await withCore(await load(command, io), async ({ store }) => {
        const found = await findRun(store, id.toLowerCase());
        const deliveries = (await store.deliveries.ofRun(found.id)).map(presentDelivery);
        if (options.json) return printJson(io, { ...presentRun(found), deliveries });
        printFields(io, [
          ['id', found.id],
          ['kind', found.kind],
          ['agent', found.agent],
          ['session', found.session ?? '-'],
          ['from', found.rerunOf === null ? found.origin : `${found.origin}, rerun of ${found.rerunOf}`],
          ['status', found.error === null ? found.status : `${found.status}: ${found.error}`],
          ['tries', String(found.attempt)],
          ['accepted', formatTime(found.acceptedAt, '-')],
          ['started', formatTime(found.startedAt, 'not yet')],
          ['finished', formatTime(found.finishedAt, 'not yet')],
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

/** The run with this id or unique id prefix. */
async function findRun({ runs }: Store, id: string): Promise<Run> {
  const notFound = () => new CommandError(`No such run: ${JSON.stringify(id)}. See: pulsegate run list`);
  if (!/^[0-9a-f-]{1,36}$/.test(id)) throw notFound();
  const matching = await runs.list({ idPrefix: id, limit: SHOWN_MATCHES + 1 });
  const [only] = matching;
  if (only === undefined) throw notFound();
  if (matching.length > 1) {
    const shown = matching.slice(0, SHOWN_MATCHES).map((run) => `  ${run.id}`);
    const more = matching.length > SHOWN_MATCHES ? ['  …'] : [];
    const text = `Ambiguous id ${id}. Matching runs:`;
    throw new CommandError([text, ...shown, ...more].join('\n'));
  }
  // Lists truncate long texts, so read the whole run.
  const run = await runs.get(only.id);
  if (!run) throw notFound();
  return run;
}
