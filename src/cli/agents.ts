// `pulsegate agent`: lists agents and sends them messages.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config.js';
import { isFinal, type Run } from '../core/agents/runs.js';
import { chooseSession, messageFault, SESSION_KEY, SESSION_KEY_FORM } from '../core/agents/webhooks.js';
import { isoOrNull } from '../core/clock.js';
import { presentRun } from '../http/v1/agents/present.js';
import type { Store } from '../store/store.js';
import { type AddCommands, CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { withCore } from './store.js';
import { formatTime, printTable } from './table.js';

/** How often `send --wait` reads the run from the database, in ms. */
const POLL_MS = 200;

export const addAgentCommands: AddCommands = (program, io) => {
  const agent = program.command('agent').description('list agents and send them messages');
  addAgentList(agent, io);
  addAgentSend(agent, io);
};

function addAgentList(agent: Command, io: CommandIo): void {
  agent
    .command('list')
    .description('list agents with their state and queued runs')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async ({ store }) => {
        const rows = await agentRows(loaded.config, store);
        if (options.json) return printJson(io, rows);
        if (rows.length === 0) return printLine(io.stderr, 'No agents are configured.');
        printTable(
          io,
          ['NAME', 'TYPE', 'STATE', 'QUEUED', 'WEBHOOK', 'SESSION', 'CHANNEL', 'LAST ACTIVE'],
          rows.map((row) => [
            row.name,
            row.type,
            row.state,
            String(row.queued),
            row.webhook ? 'yes' : 'no',
            row.sessionKey ?? '-',
            row.channel,
            formatTime(row.lastActiveAt === null ? null : Date.parse(row.lastActiveAt), 'never'),
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
      lastActiveAt: isoOrNull(at),
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

function addAgentSend(agent: Command, io: CommandIo): void {
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
      await withCore(loaded, async ({ store }) => {
        const run = await queueRun(loaded.config, store, name, message, options.session ?? null);
        if (!options.wait) return printQueued(io, run, options);
        await printResult(io, await waitForRun(store, run.runId), options);
      });
    });
}

function parseSessionKey(text: string): string {
  if (SESSION_KEY.test(text)) return text;
  throw new InvalidArgumentError(`Use ${SESSION_KEY_FORM}.`);
}

async function queueRun(config: Config, store: Store, agent: string, message: string, key: string | null) {
  if (!Object.hasOwn(config.agents, agent)) {
    const known = Object.keys(config.agents).join(', ') || 'none';
    throw new CommandError(`Unknown agent ${JSON.stringify(agent)}. Configured agents: ${known}.`);
  }
  const fault = messageFault(message);
  if (fault !== null) throw new CommandError(`Invalid message: ${fault}.`, 2);
  const session = chooseSession(fixedKey(config, agent), key, randomUUID);
  if (session === null) {
    throw new CommandError(`${agent} has the fixed session ${fixedKey(config, agent)}; omit --session.`, 2);
  }
  const { perAgent, total } = config.webhooks.queue;
  const queued = await store.runs.countQueued();
  const all = [...queued.values()].reduce((sum, each) => sum + each, 0);
  if (all >= total || (queued.get(agent) ?? 0) >= perAgent) {
    throw new CommandError('The queue is full. Try again when some runs have finished (pulsegate run list).');
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

function printQueued(io: CommandIo, run: { runId: string; session: string }, { json }: SendOptions): void {
  if (json) return printJson(io, run);
  printLine(io.stdout, `Queued as ${run.runId} in session ${run.session}.`);
  printLine(io.stdout, `To see its status: pulsegate run show ${run.runId}`);
}

async function waitForRun(store: Store, id: string): Promise<Run> {
  for (;;) {
    const run = await store.runs.get(id);
    if (!run) throw new CommandError(`The run ${id} no longer exists.`);
    if (isFinal(run.status)) return run;
    await pause(POLL_MS);
  }
}

async function printResult(io: CommandIo, run: Run, { json }: SendOptions): Promise<void> {
  if (json) printJson(io, presentRun(run));
  else if (run.status === 'succeeded') printLine(io.stdout, run.reply ?? '');
  else printLine(io.stderr, `Run ${run.status}${run.error === null ? '' : `: ${run.error}`}.`);
  if (run.status !== 'succeeded') process.exitCode = 1;
}
