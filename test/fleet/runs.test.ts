// Webhook runs of nodes that share a database: in order and one at a time per session, whichever node stored them and whichever dies.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type AgentServer, startAgentServer } from '../helpers/agent-server.js';
import type { TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startFleet } from '../helpers/fleet.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

interface Run {
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly reply: string | null;
}

async function post(node: TestDaemon, body: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await send(`${node.adminUrl}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, answer.text);
  return (JSON.parse(answer.text) as { runId: string }).runId;
}

const runAt = async (node: TestDaemon, id: string) =>
  (await node.api('GET', `/api/v1/runs/${id}`)).json as Run;
const endOf = (node: TestDaemon, id: string) =>
  eventually(async () => {
    const run = await runAt(node, id);
    return ['queued', 'running'].includes(run.status) ? false : run;
  }) as Promise<Run>;

describe('webhook runs of two nodes', async () => {
  const t = suiteScope();
  let server: AgentServer;
  let one: TestDaemon;
  let two: TestDaemon;
  before(async () => {
    server = await startAgentServer(t, () => 'done');
    const parent = [process.execPath, '-p', 'process.ppid'];
    const config = {
      webhooks: { enabled: true, secret: SECRET, agents: { a: {}, here: {} } },
      agents: {
        a: { type: 'http', url: server.url },
        here: { type: 'command', command: parent, nodes: ['gate-2'] },
      },
    };
    // A dead node is found by its process id, long before its lease is over.
    const fleet = await startFleet(t, ['gate-1', 'gate-2'], config);
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
  });

  test('the runs of one session are executed one at a time and in the order of their requests', async () => {
    let running = 0;
    let maxRunning = 0;
    let finishRuns = (): void => undefined;
    const allPosted = new Promise<void>((resolve) => {
      finishRuns = resolve;
    });
    const started: string[] = [];
    server.answer = async ({ json }) => {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      started.push(json.message);
      await allPosted;
      running -= 1;
      return 'done';
    };
    const messages = Array.from({ length: 6 }, (_, i) => `m${i}`);
    const ids: string[] = [];
    for (const [i, message] of messages.entries()) {
      ids.push(await post(i % 2 === 0 ? one : two, { agent: 'a', message, sessionKey: 'shared' }));
    }
    finishRuns();
    for (const id of ids) assert.equal((await endOf(two, id)).status, 'succeeded');
    assert.deepEqual(started, messages);
    assert.equal(maxRunning, 1);
  });

  test('both nodes know an idempotency key', async () => {
    const request = { agent: 'a', message: 'once', sessionKey: 'key' };
    const headers = { 'idempotency-key': 'the-same' };
    const ids = await Promise.all([one, two, one, two].map((node) => post(node, request, headers)));
    assert.equal(new Set(ids).size, 1);
    // The next test changes the agent's answer, which must not reach this run.
    assert.equal((await endOf(one, ids[0] ?? '')).status, 'succeeded');
  });

  test('either node can cancel and repeat a run', async () => {
    server.answer = (_request, _res, req) => new Promise((resolve) => req.on('close', resolve));
    const id = await post(one, { agent: 'a', message: 'long' });
    await eventually(async () => (await runAt(two, id)).status === 'running');
    assert.equal((await two.api('POST', `/api/v1/runs/${id}/cancel`)).status, 200);
    assert.equal((await runAt(one, id)).status, 'cancelled');
    server.answer = () => 'again';
    const { json, status } = await two.api('POST', `/api/v1/runs/${id}/rerun`);
    assert.equal(status, 202);
    assert.equal((await endOf(one, (json as { runId: string }).runId)).reply, 'again');
  });

  test('a command that is configured for one node runs there', async () => {
    for (const node of [one, two]) {
      const run = await endOf(one, await post(node, { agent: 'here', message: 'x' }));
      assert.equal(run.reply?.trim(), String(two.pid));
    }
  });

  test('the runs of a killed node are taken over in order, and none is lost', async () => {
    const started: [string, number][] = [];
    server.answer = ({ json }, _res, req) => {
      started.push([json.message, json.attempt]);
      return json.attempt === 1 && json.message === 'k0'
        ? new Promise((resolve) => req.on('close', resolve))
        : 'done';
    };
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1)
      ids.push(await post(i === 2 ? two : one, { agent: 'a', message: `k${i}`, sessionKey: 'killed' }));
    await eventually(() => started.length === 1);
    one.signal('SIGKILL');
    await one.exited();
    for (const id of ids) assert.equal((await endOf(two, id)).status, 'succeeded');
    assert.deepEqual(started, [
      ['k0', 1],
      ['k0', 2],
      ['k1', 1],
      ['k2', 1],
      ['k3', 1],
    ]);
  });
});
