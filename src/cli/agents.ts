// `pulsegate agent`: lists agents and sends them messages.
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import type { Config } from '../config.js';
import { isFinal } from '../core/agents/runs.js';
import { messageFault, SESSION_KEY, SESSION_KEY_FORM } from '../core/agents/webhooks.js';
import { type Answer, type Api, Refused, withApi, withDatabase, worded } from './shared/api.js';
import { type ApiCommand, apiCommand } from './shared/api-command.js';
import {
  type AddCommands,
  CommandError,
  type CommandIo,
  load,
  printJson,
  printLine,
} from './shared/command.js';
import { formatIso } from './shared/table.js';

/** How often `send --wait` asks for the run, in ms. */
const POLL_MS = 200;

export const addAgentCommands: AddCommands = (program, io) => {
  const agent = apiCommand(program, io, 'agent').description('list agents and send them messages');
  agent
    .command('list')
    .description('list agents with their state and queued runs')
    .lists('No agents are configured.', async ({ call }) => (await call('GET /agents')).items, {
      NAME: ({ name }) => name,
      TYPE: ({ type }) => type,
      STATE: ({ state }) => state,
      QUEUED: ({ queued }) => String(queued),
      WEBHOOK: ({ webhook }) => (webhook ? 'yes' : 'no'),
      SESSION: ({ sessionKey }) => sessionKey ?? '-',
      CHANNEL: ({ channel }) => channel,
      'LAST ACTIVE': ({ lastActiveAt }) => formatIso(lastActiveAt, 'never'),
    });
  addAgentSend(agent, io);
};

interface SendOptions {
  session?: string;
  wait?: true;
  json?: true;
}

function addAgentSend(agent: ApiCommand, io: CommandIo): void {
  agent
    .command('send')
    .argument('<name>', 'agent name')
    .argument('<message>', 'message text')
    .description('queue a run; the daemon starts it within a second, or when it next starts')
    .option(
      '--session <key>',
      "session key (default: the agent's fixed session, or a new one)",
      parseSessionKey,
    )
    .option('--wait', 'wait for the run and print its reply; exit code 1 if it does not succeed')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate agent send reporter "how was the night?" --wait\n  pulsegate agent send helper "and then?" --session ticket-17',
    )
    .action(async (name: string, message: string, options: SendOptions, command) => {
      const loaded = await load(command, io);
      const send = (api: Api) => queueRun(api, loaded.config, name, message, options.session);
      const run = await withApi(loaded, send).catch((error: unknown) => {
        // A daemon that stops accepts no run. Its next start finds that of the database.
        if (!isStopping(error)) throw error;
        return withDatabase(loaded, send);
      });
      if (!options.wait) return printQueued(io, run, options);
      const wait = (api: Api) => waitForRun(api, run.runId);
      const result = await withApi(loaded, wait).catch((error: unknown) => {
        // The daemon ended meanwhile, and another may start.
        if (error instanceof Refused && !isStopping(error)) throw error;
        return withDatabase(loaded, wait);
      });
      printResult(io, result, options);
    });
}

const isStopping = (error: unknown): boolean =>
  error instanceof Refused && error.problem.reason?.code === 'stopping';

function parseSessionKey(text: string): string {
  if (SESSION_KEY.test(text)) return text;
  throw new InvalidArgumentError(`Use ${SESSION_KEY_FORM}.`);
}

async function queueRun({ call }: Api, config: Config, agent: string, message: string, key?: string) {
  const fault = messageFault(message);
  if (fault !== null) throw new CommandError(`Invalid message: ${fault}.`, 2);
  const known = Object.keys(config.agents).join(', ') || 'none';
  const fixedKey = config.webhooks.agents[agent]?.sessionKey;
  const body = { message, sessionKey: key };
  return worded(call('POST /agents/{name}/messages', { params: { name: agent }, body }), {
    'no-agent': `Unknown agent ${JSON.stringify(agent)}. Configured agents: ${known}.`,
    'fixed-session-key': new CommandError(`${agent} has the fixed session ${fixedKey}; omit --session.`, 2),
    'queue-full': 'The queue is full. Try again when some runs have finished (pulsegate run list).',
  });
}

type Queued = Answer<'POST /agents/{name}/messages'>;
type Run = Answer<'GET /runs/{id}'>;

function printQueued(io: CommandIo, run: Queued, { json }: SendOptions): void {
  if (json) return printJson(io, run);
  printLine(io.stdout, `Queued as ${run.runId} in session ${run.session}.`);
  printLine(io.stdout, `To see its status: pulsegate run show ${run.runId}`);
}

async function waitForRun({ call }: Api, id: string): Promise<Run> {
  for (;;) {
    const run = await worded(call('GET /runs/{id}', { params: { id } }), {
      'no-run': `The run ${id} no longer exists.`,
    });
    if (isFinal(run.status)) return run;
    await pause(POLL_MS);
  }
}

function printResult(io: CommandIo, run: Run, { json }: SendOptions): void {
  if (json) printJson(io, run);
  else if (run.status === 'succeeded') printLine(io.stdout, run.reply ?? '');
  else printLine(io.stderr, `Run ${run.status}${run.error === null ? '' : `: ${run.error}`}.`);
  if (run.status !== 'succeeded') process.exitCode = 1;
}
