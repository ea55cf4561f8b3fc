// `pulsegate agent`: which agents there are, and sending them messages.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config.js';
import { isFinal, type Run } from '../core/agents/runs.js';
import { chooseSession, messageFault, SESSION_KEY } from '../core/agents/webhooks.js';
import type { Store } from '../store/store.js';
import { type AddCommands, CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { iso, presentRun } from './runs.js';
import { withCore } from './store.js';
import { formatMoment, printTable } from './table.js';

/** How often `send --wait` looks. */
const WAIT_STEP_MS = 200;

export const addAgentCommands: AddCommands = (program, around) => {
  const agent = program.command('agent').description('the agents of the configuration');
  addAgentList(agent, around);
  addAgentSend(agent, around);
};

function addAgentList(agent: Command, around: Surroundings): void {
  agent
    .command('list')
    .description('agents, whether they are active, and how many runs wait for them')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ store }) => {
        const rows = await agentRows(loaded.config, store);
        if (options.json) return printJson(around, rows);
        if (rows.length === 0) return printLine(around.stderr, 'There are no agents in the configuration.');
        printTable(
          around,
          ['NAME', 'TYPE', 'STATE', 'QUEUED', 'WEBHOOK', 'SESSION', 'CHANNEL', 'LAST ACTIVE'],
          rows.map((row) => [
            row.name,
            row.type,
            row.state,
            String(row.queued),
            row.webhook ? 'yes' : 'no',
            row.sessionKey ?? '-',
            row.channel,
            formatMoment(row.lastActiveAt === null ? null : Date.parse(row.lastActiveAt), 'never'),
          ]),
        );
      });
    });
}

async function agentRows(config: Config, store: Store) {
  const queued = await store.runs.countQueued();
  const rows = [];
  for (const [name, { type, idleAfterMs, channel }] of Object.entries(config.agents)) {
    const at = await store.runs.lastActive(name);
    rows.push({
      name,
      type,
      state: at !== null && Date.now() - at < idleAfterMs ? 'active' : 'idle',
      lastActiveAt: iso(at),
      channel: channel.type,
      webhook: Object.hasOwn(config.webhooks.agents, name),
      sessionKey: fixedKey(config, name),
      queued: queued.get(name) ?? 0,
    });
  }
  return rows;
}

function fixedKey({ webhooks }: Config, name: string): string | null {
  return Object.hasOwn(webhooks.agents, name) ? (webhooks.agents[name]?.sessionKey ?? null) : null;
}

interface SendOptions {
  session?: string;
  wait?: true;
  json?: true;
}

function addAgentSend(agent: Command, around: Surroundings): void {
  agent
    .command('send')
    .argument('<name>', 'the agent')
    .argument('<message>', 'the text')
    .description('queue a run; the daemon runs it within a second, or once it is started')
    .option(
      '--session <key>',
      'the conversation to run in; default: the fixed one, or a new one',
      readSessionKey,
    )
    .option('--wait', 'until the run has ended; prints the reply, exit code 1 when there is none')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate agent send reporter "how was the night?" --wait\n  pulsegate agent send helper "and then?" --session ticket-17',
    )
    .action(async (name: string, message: string, options: SendOptions, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ store }) => {
        const run = await queueRun(loaded.config, store, name, message, options.session ?? null);
        if (!options.wait) return printQueued(around, run, options);
        await printEnd(around, await ended(store, run.runId), options);
      });
    });
}

function readSessionKey(text: string): string {
  if (SESSION_KEY.test(text)) return text;
  throw new InvalidArgumentError('It is 1 to 128 letters, digits, dots, colons, dashes and underscores.');
}

async function queueRun(config: Config, store: Store, agent: string, message: string, key: string | null) {
  if (!Object.hasOwn(config.agents, agent)) {
    const known = Object.keys(config.agents).join(', ') || 'none';
    throw new CommandError(
      `There is no agent ${JSON.stringify(agent)} in the configuration. There are: ${known}.`,
    );
  }
  const fault = messageFault(message);
  if (fault !== null) throw new CommandError(`The message cannot be sent: ${fault}.`, 2);
  const session = chooseSession(fixedKey(config, agent), key, randomUUID);
  if (session === null) {
    throw new CommandError(
      `${agent} has the fixed session ${fixedKey(config, agent)}; leave --session out.`,
      2,
    );
  }
  const { perAgent, total } = config.webhooks.queue;
  const queued = await store.runs.countQueued();
  const all = [...queued.values()].reduce((sum, each) => sum + each, 0);
  if (all >= total || (queued.get(agent) ?? 0) >= perAgent) {
    throw new CommandError('The queue is full. Try again when some runs have ended (pulsegate run list).');
  }
  const now = Date.now();
  const run = {
    kind: 'message',
    agent,
    session,
    message,
    origin: 'cli',
    rerunOf: null,
    acceptedAt: now,
  } as const;
  const [stored] = await store.runs.add([{ run, owner: null, idempotency: null }], now);
  if (stored?.outcome !== 'stored') throw new CommandError('The run was not stored.');
  return { runId: stored.runId, session };
}

function printQueued(
  around: Surroundings,
  run: { runId: string; session: string },
  { json }: SendOptions,
): void {
  if (json) return printJson(around, run);
  printLine(around.stdout, `Queued as ${run.runId} in session ${run.session}.`);
  printLine(around.stdout, `See what becomes of it: pulsegate run show ${run.runId}`);
}

async function ended(store: Store, id: string): Promise<Run> {
  for (;;) {
    const run = await store.runs.get(id);
    if (!run) throw new CommandError(`The run ${id} was removed.`);
    if (isFinal(run.status)) return run;
    await sleep(WAIT_STEP_MS);
  }
}

async function printEnd(around: Surroundings, run: Run, { json }: SendOptions): Promise<void> {
  if (json) printJson(around, presentRun(run));
  else if (run.status === 'succeeded') printLine(around.stdout, run.reply ?? '');
  else
    printLine(around.stderr, `The run ended as ${run.status}${run.error === null ? '' : `: ${run.error}`}.`);
  if (run.status !== 'succeeded') process.exitCode = 1;
}
