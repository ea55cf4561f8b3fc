// `pulsegate agent`: lists agents and sends them messages.
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { isFinal } from '../core/agents/runs.js';
import { messageFault, SESSION_KEY, SESSION_KEY_FORM } from '../core/agents/webhooks.js';
import { type Answer, type Api, Refused, worded } from './shared/api.js';
import { CommandError, type CommandIo, printLine } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { formatIso } from './shared/table.js';

/** How often `send --wait` asks for the run, in ms. */
const POLL_MS = 200;

export const addAgentCommands: AddCommands = (program) => {
  const agent = program.group('agent', 'list agents and send them messages');
  agent
    .command('list', 'list agents with their state and queued runs')
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

  agent
    .command('send', 'queue a run; the daemon starts it within a second, or when it next starts', {
      '<name>': 'agent name',
      '<message>': 'message text',
      '--session <key>': {
        help: "session key (default: the agent's fixed session, or a new one)",
        read: parseSessionKey,
      },
      '--wait': 'wait for the run and print its reply; exit code 1 if it does not succeed',
    })
    .examples(
      'agent send reporter "how was the night?" --wait',
      'agent send helper "and then?" --session ticket-17',
    )
    .answers(async (run, { name, message, session: sessionKey, wait }) => {
      const { agents, webhooks } = (await run.load()).config;
      const unknown = `Unknown agent ${JSON.stringify(name)}. Configured agents: ${Object.keys(agents).join(', ') || 'none'}.`;
      if (name === '') throw new CommandError(unknown);
      const fault = messageFault(message);
      if (fault !== null) throw new CommandError(`Invalid message: ${fault}.`, 2);
      const fixed = `${name} has the fixed session ${webhooks.agents[name]?.sessionKey}; omit --session.`;
      const send = ({ call }: Api) =>
        worded(call('POST /agents/{name}/messages', { params: { name }, body: { message, sessionKey } }), {
          'no-agent': unknown,
          'fixed-session-key': new CommandError(fixed, 2),
          'queue-full': 'The queue is full. Try again when some runs have finished (pulsegate run list).',
        });
      const sent = await send(run).catch(async (error: unknown) => {
        // A daemon that stops accepts no run. Its next start finds that of the database.
        if (!isStopping(error)) throw error;
        return send(await run.database());
      });
      const { runId, session } = sent;
      if (!wait)
        return [
          sent,
          `Queued as ${runId} in session ${session}.\nTo see its status: pulsegate run show ${runId}`,
        ];
      const result = await waitForRun(run, runId).catch(async (error: unknown) => {
        // The daemon ended meanwhile, and another may start.
        if (error instanceof Refused && !isStopping(error)) throw error;
        return waitForRun(await run.database(), runId);
      });
      if (result.status !== 'succeeded') process.exitCode = 1;
      return [result, () => printResult(run.io, result)];
    });
};

const isStopping = (error: unknown): boolean =>
  error instanceof Refused && error.problem.reason?.code === 'stopping';

function parseSessionKey(text: string): string {
  if (SESSION_KEY.test(text)) return text;
  throw new InvalidArgumentError(`Use ${SESSION_KEY_FORM}.`);
}

type AgentRun = Answer<'GET /runs/{id}'>;

async function waitForRun({ call }: Api, id: string): Promise<AgentRun> {
  for (;;) {
    const run = await worded(call('GET /runs/{id}', { params: { id } }), {
      'no-run': `The run ${id} no longer exists.`,
    });
    if (isFinal(run.status)) return run;
    await pause(POLL_MS);
  }
}

function printResult({ stdout, stderr }: CommandIo, { status, reply, error }: AgentRun): void {
  if (status === 'succeeded') printLine(stdout, reply ?? '');
  else printLine(stderr, `Run ${status}${error === null ? '' : `: ${error}`}.`);
}
