// `pulsegate run`: lists and shows agent runs.
import { Option } from 'commander';
import { RUN_STATUSES, type RunStatus } from '../core/agents/runs.js';
import { type Api, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, CommandError, printJson } from './shared/command.js';
import { parseLimit } from './shared/options.js';
import { formatIso, printFields } from './shared/table.js';

const DEFAULT_LIMIT = 50;
/** The number of runs listed when an id prefix is ambiguous. */
const SHOWN_MATCHES = 10;

export const addRunCommands: AddCommands = (program, io) => {
  const run = apiCommand(program, io, 'run').description('list and show agent runs');

  run
    .command('list')
    .description('list runs, newest first')
    .option('--agent <name>', 'filter by agent')
    .option('--session <key>', 'filter by session key')
    .addOption(new Option('--status <status>', 'filter by status').choices(RUN_STATUSES))
    .option('--limit <n>', 'maximum number of runs', parseLimit, DEFAULT_LIMIT)
    .lists('No runs found.', readRuns, {
      ID: ({ id }) => id,
      AGENT: ({ agent }) => agent,
      SESSION: ({ session }) => session ?? '-',
      STATUS: ({ status }) => status,
      TRY: ({ attempt }) => String(attempt),
      ACCEPTED: ({ acceptedAt }) => formatIso(acceptedAt, '-'),
      DELIVERY: ({ delivery }) => delivery,
      MESSAGE: ({ kind, message }) => (kind === 'wake' ? '(wake)' : (message ?? '')),
    });

  run
    .command('show')
    .argument('<id>', 'run id or unique prefix')
    .description('show a run with its message, reply and deliveries')
    .option('--json', 'print JSON')
    .calls(async (api, id: string, options: { json?: true }) => {
      const found = await findRun(api, id.toLowerCase());
      if (options.json) return printJson(io, found);
      printFields(io, [
        ['id', found.id],
        ['kind', found.kind],
        ['agent', found.agent],
        ['session', found.session ?? '-'],
        ['from', found.rerunOf === null ? found.origin : `${found.origin}, rerun of ${found.rerunOf}`],
        ['status', found.error === null ? found.status : `${found.status}: ${found.error}`],
        ['tries', String(found.attempt)],
        ['accepted', formatIso(found.acceptedAt, '-')],
        ['started', formatIso(found.startedAt, 'not yet')],
        ['finished', formatIso(found.finishedAt, 'not yet')],
        ['message', found.message ?? '-'],
        ['reply', found.reply ?? '-'],
        ['delivery', found.delivery],
        ...found.deliveries.map(
          (each) =>
            [`  try ${each.attempt}`, `${each.channel} at ${each.finishedAt}: ${each.detail}`] as const,
        ),
      ]);
    });
};

interface Filter {
  agent?: string;
  session?: string;
  status?: RunStatus;
  limit: number;
}

const readRuns = async ({ call }: Api, { agent, session, status, limit }: Filter) =>
  (await call('GET /runs', { query: { agent, session, status, limit } })).items;

/** The run with this id or unique id prefix. */
async function findRun({ call }: Api, prefix: string) {
  const notFound = () => new CommandError(`No such run: ${JSON.stringify(prefix)}. See: pulsegate run list`);
  if (!/^[0-9a-f-]{1,36}$/.test(prefix)) throw notFound();
  const get = (id: string) =>
    worded(call('GET /runs/{id}', { params: { id } }), { 'no-run': notFound(), 'path.id': notFound() });
  if (prefix.length === LAST_ID.length) return get(prefix);
  // Newest first, and ids ascend with time: the runs before the last one that the prefix could mean.
  const cursor = prefix + LAST_ID.slice(prefix.length);
  const listed = call('GET /runs', { query: { cursor, limit: SHOWN_MATCHES + 1 } });
  const { items } = await worded(listed, { 'query.cursor': notFound() });
  const matching = items.filter(({ id }) => id.startsWith(prefix));
  const [only] = matching;
  if (only === undefined) return get(cursor);
  if (matching.length > 1) {
    const shown = matching.slice(0, SHOWN_MATCHES).map((run) => `  ${run.id}`);
    const more = matching.length > SHOWN_MATCHES ? ['  …'] : [];
    throw new CommandError([`Ambiguous id ${prefix}. Matching runs:`, ...shown, ...more].join('\n'));
  }
  return get(only.id);
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
