// Webhook runs of nodes that share a database: one at a time and in order per session, whichever node took them in and whichever dies.
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
const ended = (node: TestDaemon, id: string) =>
  eventually(async () => {
    const run = await runAt(node, id);
    return ['queued', 'running'].includes(run.status) ? false : run;
  }) as Promise<Run>;

describe('runs of two nodes', async () => {
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
    // A node whose lease runs out on a busy machine would repeat its runs.
    const fleet = await startFleet(t, ['gate-1', 'gate-2'], config, '8s');
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
  });

  test('of one session are run one at a time, in the order in which they were taken in', async () => {
    let underWay = 0;
    let most = 0;
    const begun: string[] = [];
    server.answer = async ({ json }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      begun.push(json.message);
      await new Promise((resolve) => setTimeout(resolve, 20));
      underWay -= 1;
      return 'done';
    };
    const messages = Array.from({ length: 6 }, (_, i) => `m${i}`);
    const ids: string[] = [];
    for (const [i, message] of messages.entries()) {
      ids.push(await post(i % 2 === 0 ? one : two, { agent: 'a', message, sessionKey: 'shared' }));
    }
    for (const id of ids) assert.equal((await ended(two, id)).status, 'succeeded');
    assert.deepEqual(begun, messages);
    assert.equal(most, 1);
  });

  test('an idempotency key is known to both', async () => {
    const request = { agent: 'a', message: 'once', sessionKey: 'key' };
    const headers = { 'idempotency-key': 'the-same' };
    const ids = await Promise.all([one, two, one, two].map((node) => post(node, request, headers)));
    assert.equal(new Set(ids).size, 1);
    // The next test changes the agent's answer, which must not reach this run.
    assert.equal((await ended(one, ids[0] ?? '')).status, 'succeeded');
  });

  test('are cancelled, and repeated, by way of either', async () => {
    server.answer = (_request, _res, req) => new Promise((resolve) => req.on('close', resolve));
    const id = await post(one, { agent: 'a', message: 'long' });
    await eventually(async () => (await runAt(two, id)).status === 'running');
    assert.equal((await two.api('POST', `/api/v1/runs/${id}/cancel`)).status, 200);
    assert.equal((await runAt(one, id)).status, 'cancelled');
    server.answer = () => 'again';
    const { json, status } = await two.api('POST', `/api/v1/runs/${id}/rerun`);
    assert.equal(status, 202);
    assert.equal((await ended(one, (json as { runId: string }).runId)).reply, 'again');
  });

  test('of a command that one node is named for are run there', async () => {
    for (const node of [one, two]) {
      const run = await ended(one, await post(node, { agent: 'here', message: 'x' }));
      assert.equal(run.reply?.trim(), String(two.pid));
    }
  });

  test('of a node that was killed are taken over, in order, and none is lost', async () => {
    const begun: [string, number][] = [];
    server.answer = ({ json }, _res, req) => {
      begun.push([json.message, json.attempt]);
      return json.attempt === 1 && json.message === 'k0'
        ? new Promise((resolve) => req.on('close', resolve))
        : 'done';
    };
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1)
      ids.push(await post(i === 2 ? two : one, { agent: 'a', message: `k${i}`, sessionKey: 'killed' }));
    await eventually(() => begun.length === 1);
    one.signal('SIGKILL');
    await one.exited();
    for (const id of ids) assert.equal((await ended(two, id)).status, 'succeeded');
    assert.deepEqual(begun, [
      ['k0', 1],
      ['k0', 2],
      ['k1', 1],
      ['k2', 1],
      ['k3', 1],
    ]);
  });
});
