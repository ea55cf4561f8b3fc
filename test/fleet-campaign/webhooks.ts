// Webhooks through haproxy, and their agent. A webhook that was answered 200 must run; runs of a session key run one at a time and
// in order.
import { setTimeout as pause } from 'node:timers/promises';
import { type AgentServer, startAgentServer } from '../helpers/agent-server.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import type { Scope } from '../helpers/suite.js';
import { type Ledger, nameOfError } from './ledger.js';
import type { Servers } from './servers.js';

export const KEYS = Array.from({ length: 8 }, (_, n) => `key-${n}`);
const RUN_MS = 30;
const BETWEEN_MS = 100;

export interface Agent {
  readonly server: AgentServer;
  /** The numbers of the messages per session key, in the order of their first starts. */
  readonly started: ReadonlyMap<string, number[]>;
  /** Number of starts per message: `key-3:17`. */
  readonly starts: ReadonlyMap<string, number>;
}

/** Starts the agent. It records two concurrent runs of one session as a breach. */
export async function startAgent(t: Scope, ledger: Ledger): Promise<Agent> {
  const started = new Map<string, number[]>(KEYS.map((key) => [key, []]));
  const starts = new Map<string, number>();
  const running = new Set<string>();
  const server = await startAgentServer(t, async ({ json }) => {
    const message = String(json.message);
    const [key = '', number = ''] = message.split(':');
    if (running.has(key)) ledger.breach('two runs of one session key at once');
    running.add(key);
    const earlierStarts = starts.get(message) ?? 0;
    starts.set(message, earlierStarts + 1);
    if (earlierStarts === 0) started.get(key)?.push(Number(number));
    await pause(RUN_MS);
    running.delete(key);
    return { reply: 'done' };
  });
  return { server, started, starts };
}

/** Sends one webhook after another until the campaign is over. @returns the numbers of those answered 200 */
export async function keepSending(
  servers: Servers,
  ledger: Ledger,
  key: string,
  isOver: () => boolean,
): Promise<number[]> {
  const acknowledged: number[] = [];
  for (let n = 1; !isOver(); n += 1) {
    const startedAt = Date.now();
    ledger.count('webhooks sent');
    let answer: string;
    try {
      const { status } = await send(`${servers.operatorsUrl}/hooks/agent`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'campaign', message: `${key}:${n}`, sessionKey: key }),
      });
      ledger.count(`webhooks answered ${status}`);
      if (status === 200) acknowledged.push(n);
      answer = String(status);
    } catch (error) {
      answer = nameOfError(error);
      ledger.count(`webhooks without an answer (${answer})`);
    }
    if (answer !== '200' && !ledger.wasDisturbed('changes', startedAt))
      ledger.breach(`a webhook was answered ${answer} without a fault`);
    await pause(BETWEEN_MS);
  }
  return acknowledged;
}

/** Compares the webhooks answered 200 with the agent's runs. */
export function judgeWebhooks(
  agent: Agent,
  acknowledged: ReadonlyMap<string, readonly number[]>,
  ledger: Ledger,
): void {
  for (const [key, numbers] of acknowledged) {
    const expected = new Set(numbers);
    const order = (agent.started.get(key) ?? []).filter((n) => expected.has(n));
    const lost = expected.size - order.length;
    ledger.count('acknowledged webhooks lost', lost);
    if (lost > 0) ledger.breach('an acknowledged webhook was lost');
    if (order.some((n, i) => n < (order[i - 1] ?? 0))) ledger.breach('runs of one session key out of order');
  }
  const repeated = [...agent.starts.values()].filter((starts) => starts > 1).length;
  ledger.count('webhooks run', agent.starts.size);
  ledger.count('webhooks run twice', repeated);
}
