// `pulsegate run`: lists and shows agent runs.
import { RUN_STATUSES } from '../core/agents/runs.js';
import { type Api, worded } from './shared/api.js';
import { CommandError, notFound } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { parseLimit } from './shared/options.js';
import { formatIso, printFields } from './shared/table.js';

/** The number of runs listed when an id prefix is ambiguous. */
const SHOWN_MATCHES = 10;

export const addRunCommands: AddCommands = (program) => {
  const run = program.group('run', 'list and show agent runs');

  run
    .command('list', 'list runs, newest first', {
      '--agent <name>': 'filter by agent',
      '--session <key>': 'filter by session key',
      '--status <status>': { help: 'filter by status', choices: RUN_STATUSES },
      '--limit <n>': { help: 'maximum number of runs', read: parseLimit, initial: 50 },
    })
    .lists(
      'No runs found.',
      async ({ call }, { agent, session, status, limit }) =>
        (await call('GET /runs', { query: { agent, session, status, limit } })).items,
      {
        ID: ({ id }) => id,
        AGENT: ({ agent }) => agent,
        SESSION: ({ session }) => session ?? '-',
        STATUS: ({ status }) => status,
        TRY: ({ attempt }) => String(attempt),
        ACCEPTED: ({ acceptedAt }) => formatIso(acceptedAt, '-'),
        DELIVERY: ({ delivery }) => delivery,
        MESSAGE: ({ kind, message }) => (kind === 'wake' ? '(wake)' : (message ?? '')),
      },
    );

  run
    .command('show', 'show a run with its message, reply and deliveries', {
      '<id>': 'run id or unique prefix',
    })
    .answers(async (api, { id }) => {
      const shown = await findRun(api, id.toLowerCase());
      const print = () =>
        printFields(api.io, {
          id: shown.id,
          kind: shown.kind,
          agent: shown.agent,
          session: shown.session ?? '-',
          from: shown.rerunOf === null ? shown.origin : `${shown.origin}, rerun of ${shown.rerunOf}`,
          status: shown.error === null ? shown.status : `${shown.status}: ${shown.error}`,
          tries: String(shown.attempt),
          accepted: formatIso(shown.acceptedAt, '-'),
          started: formatIso(shown.startedAt, 'not yet'),
          finished: formatIso(shown.finishedAt, 'not yet'),
          message: shown.message ?? '-',
          reply: shown.reply ?? '-',
          delivery: shown.delivery,
          ...Object.fromEntries(
            shown.deliveries.map(({ attempt, channel, finishedAt, detail }) => [
              `  try ${attempt}`,
              `${channel} at ${finishedAt}: ${detail}`,
            ]),
          ),
        });
      return [shown, print];
    });
};

/** The run with this id or unique id prefix. */
async function findRun({ call }: Api, prefix: string) {
  const missing = notFound('run', prefix);
  if (prefix === '') throw missing;
  const get = (id: string) =>
    worded(call('GET /runs/{id}', { params: { id } }), { 'no-run': missing, 'path.id': missing });
  if (prefix.length === LAST_ID.length) return get(prefix);
  // Newest first, and ids ascend with time: the runs before the last one that the prefix could mean.
  const cursor = prefix + LAST_ID.slice(prefix.length);
  const listed = call('GET /runs', { query: { cursor, limit: SHOWN_MATCHES + 1 } });
  const { items } = await worded(listed, { 'query.cursor': missing });
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
