// `pulsegate agent` and `pulsegate run`: lists agents, sends them messages, and shows their runs.
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { isFinal, RUN_STATUSES } from '../core/agents/runs.js';
import { messageFault, SESSION_KEY, SESSION_KEY_FORM } from '../core/agents/webhooks.js';
import { type Answer, type Api, Refused } from './shared/api.js';
import { CommandError, notFound, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { limitOption } from './shared/options.js';
import { choice, param } from './shared/params.js';
import { formatIso, printFields } from './shared/table.js';

/** How often `send --wait` asks for the run, in ms. */
const POLL_MS = 200;

export const addAgentCommands: AddCommands = (program) =>
  program
    .group('agent', 'list agents and send them messages')

    .command('list', 'list agents with their state and queued runs')
    .lists('No agents are configured.', 'GET /agents', [
      { NAME: 'name', TYPE: 'type', STATE: 'state', QUEUED: 'queued', WEBHOOK: 'webhook' },
      { SESSION: ({ sessionKey }) => sessionKey ?? '-', CHANNEL: 'channel', 'LAST ACTIVE': 'lastActiveAt' },
    ])

    .command('send', 'queue a run; the daemon starts it within a second, or when it next starts', {
      name: '<name>  agent name',
      message: '<message>  message text',
      sessionKey: param(
        "--session <key>  session key (default: the agent's fixed session, or a new one)",
        parseSessionKey,
      ),
      wait: '--wait  wait for the run and print its reply; exit code 1 if it does not succeed',
    })
    .examples(
      'agent send reporter "how was the night?" --wait',
      'agent send helper "and then?" --session ticket-17',
    )
    .answers(async (run, { name, wait, ...body }) => {
      const { agents, webhooks } = (await run.load()).config;
      const unknown = `Unknown agent ${JSON.stringify(name)}. Configured agents: ${Object.keys(agents).join(', ') || 'none'}.`;
      if (name === '') throw new CommandError(unknown);
      const fault = messageFault(body.message);
      if (fault !== null) throw wrongUsage(`Invalid message: ${fault}.`);
      const fixed = `${name} has the fixed session ${webhooks.agents[name]?.sessionKey}; omit --session.`;
      const refusals = {
        'no-agent': unknown,
        'fixed-session-key': wrongUsage(fixed),
        'queue-full': 'The queue is full. Try again when some runs have finished (pulsegate run list).',
      };
      const input = { params: { name }, body };
      const send = ({ call }: Api) => call('POST /agents/{name}/messages', input, refusals);
      const sent = await send(run).catch((error: unknown) => {
        // A daemon that stops accepts no run. Its next start finds that of the database.
        if (isStopping(error)) return send(run.database);
        throw error;
      });
      const { runId, session } = sent;
      const queued = `Queued as ${runId} in session ${session}.\nTo see its status: pulsegate run show ${runId}`;
      if (!wait) return [sent, queued];
      const result = await waitForRun(run, runId).catch((error: unknown) => {
        // The daemon ended meanwhile, and another may start.
        if (error instanceof Refused && !isStopping(error)) throw error;
        return waitForRun(run.database, runId);
      });
      const { status, reply, error } = result;
      if (status === 'succeeded') return [result, reply ?? ''];
      process.exitCode = 1;
      return [result, () => run.note(`Run ${status}${error === null ? '' : `: ${error}`}.`)];
    });

const isStopping = (error: unknown): boolean =>
  error instanceof Refused && error.problem.reason?.code === 'stopping';

function parseSessionKey(text: string): string {
  if (SESSION_KEY.test(text)) return text;
  throw new InvalidArgumentError(`Use ${SESSION_KEY_FORM}.`);
}

type AgentRun = Answer<'GET /runs/{id}'>;

async function waitForRun({ call }: Api, id: string): Promise<AgentRun> {
  for (;;) {
    const missing = { 'no-run': `The run ${id} no longer exists.` };
    const run = await call('GET /runs/{id}', { params: { id } }, missing);
    if (isFinal(run.status)) return run;
    await pause(POLL_MS);
  }
}

/** The number of runs listed when an id prefix is ambiguous. */
const SHOWN_MATCHES = 10;

export const addRunCommands: AddCommands = (program) =>
  program
    .group('run', 'list and show agent runs')

    .command('list', 'list runs, newest first', {
      agent: '--agent <name>  filter by agent',
      session: '--session <key>  filter by session key',
      status: choice('--status <status>  filter by status', RUN_STATUSES),
      limit: limitOption('runs', 50),
    })
    .lists('No runs found.', 'GET /runs', [
      { ID: 'id', AGENT: 'agent', SESSION: ({ session }) => session ?? '-', STATUS: 'status' },
      { TRY: 'attempt', ACCEPTED: 'acceptedAt', DELIVERY: 'delivery' },
      { MESSAGE: ({ kind, message }) => (kind === 'wake' ? '(wake)' : (message ?? '')) },
    ])

    .command('show', 'show a run with its message, reply and deliveries', {
      shown: param('<id>  run id or unique prefix').finds(findRun),
    })
    .answers(({ io }, { shown }) => [
      shown,
      () =>
        printFields(io, shown, [
          { id: 'id', kind: 'kind', agent: 'agent', session: ({ session }) => session ?? '-' },
          { from: ({ origin, rerunOf }) => (rerunOf === null ? origin : `${origin}, rerun of ${rerunOf}`) },
          { status: ({ status, error }) => (error === null ? status : `${status}: ${error}`) },
          { tries: 'attempt', accepted: 'acceptedAt' },
          { started: ({ startedAt }) => formatIso(startedAt, 'not yet') },
          { finished: ({ finishedAt }) => formatIso(finishedAt, 'not yet') },
          { message: ({ message }) => message ?? '-', reply: ({ reply }) => reply ?? '-' },
          { delivery: 'delivery' },
          ...shown.deliveries.map(({ attempt, channel, finishedAt, detail }) => ({
            [`  try ${attempt}`]: () => `${channel} at ${finishedAt}: ${detail}`,
          })),
        ]),
    ]);

/** The run with this id or unique id prefix. */
async function findRun({ call }: Api, text: string): Promise<AgentRun> {
  const prefix = text.toLowerCase();
  const missing = notFound('run', prefix);
  if (prefix === '') throw missing;
  const get = (id: string) =>
    call('GET /runs/{id}', { params: { id } }, { 'no-run': missing, 'path.id': missing });
  if (prefix.length === LAST_ID.length) return get(prefix);
  // Newest first, and ids ascend with time: the runs before the last one that the prefix could mean.
  const cursor = prefix + LAST_ID.slice(prefix.length);
  const query = { cursor, limit: SHOWN_MATCHES + 1 };
  const { items } = await call('GET /runs', { query }, { 'query.cursor': missing });
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
