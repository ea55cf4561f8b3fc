// Agents of the type `socket` in a daemon, with Unix servers that answer well and badly.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { suiteScope } from '../../helpers/suite.js';

interface Run {
  readonly status: string;
  readonly reply: string | null;
  readonly error: string | null;
}

describe('agents of the type socket', () => {
  const scope = suiteScope();
  const requests: Record<string, unknown>[] = [];
  /** Connections on which the server keeps silent. */
  const silent: Socket[] = [];
  let folder: string;
  let daemon: TestDaemon;
  const pathOf = (name: string) => join(folder, `${name}.sock`);

  function listen(name: string, onConnection: (socket: Socket) => void, pauseOnConnect = false) {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect }, (socket) => {
      socket.on('error', () => {});
      onConnection(socket);
    });
    scope.after(() => server.close());
    return new Promise<void>((resolve) => server.listen(pathOf(name), resolve));
  }

  /** Reads the request until its end, and does what its message says. */
  async function answer(socket: Socket): Promise<void> {
    const request = JSON.parse(await text(socket.iterator({ destroyOnReturn: false })));
    requests.push(request);
    const [what, value = ''] = String(request.message).split(' ');
    if (what === 'say') socket.end(`${value}\n`);
    else if (what === 'repeat') socket.end('x'.repeat(Number(value)));
    else if (what === 'keep') silent.push(socket.resume());
    else socket.end();
  }

  async function queue(agent: string, message: string): Promise<string> {
    const { json, status } = await daemon.api('POST', `/api/v1/agents/${agent}/messages`, { message });
    assert.equal(status, 202);
    return (json as { runId: string }).runId;
  }

  const show = async (id: string) => (await daemon.api('GET', `/api/v1/runs/${id}`)).json as Run;
  const ended = (id: string): Promise<Run> =>
    eventually(async () => {
      const run = await show(id);
      assert.ok(!['queued', 'running'].includes(run.status), run.status);
      return run;
    });
  const outcome = async (agent: string, message: string) => {
    const { status, reply, error } = await ended(await queue(agent, message));
    return status === 'succeeded' ? reply : error;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pulsegate-agent-sockets-'));
    scope.after(() => rm(folder, { recursive: true, force: true }));
    await listen('good', (socket) => void answer(socket));
    await listen('deaf', (socket) => socket.destroy(), true);
    await writeFile(pathOf('file'), '');
    const names = ['good', 'deaf', 'file', 'late', 'gone'];
    const agent = (name: string) => ({ type: 'socket', path: pathOf(name), maxReply: '1KiB' });
    const agents = Object.fromEntries(names.map((name) => [name, agent(name)]));
    daemon = await startTestDaemon(scope, {
      config: { agents: { ...agents, hasty: { ...agent('good'), timeout: '2s' } } },
    });
  });

  it('get one JSON object until the end, and answer until theirs', async () => {
    assert.equal(await outcome('good', 'say'), '');
    assert.equal(await outcome('good', 'say hello'), 'hello');
    const { runId, session, ...request } = requests.at(-1) ?? {};
    assert.deepEqual([typeof runId, typeof session], ['string', 'string']);
    assert.deepEqual(request, {
      kind: 'message',
      agent: 'good',
      message: 'say hello',
      history: [],
      attempt: 1,
    });
  });

  it('may reply with maxReply bytes, and not one more', async () => {
    assert.equal(await outcome('good', 'repeat 1024'), 'x'.repeat(1024));
    assert.equal(await outcome('good', 'repeat 1025'), 'the reply is longer than 1024 bytes');
  });

  it('fail with what was wrong', async () => {
    const gone = outcome('gone', 'x');
    const file = outcome('file', 'x');
    const deaf = await outcome('deaf', 'x');
    assert.equal(await outcome('good', 'nothing'), `${pathOf('good')} closed the connection without a reply`);
    assert.match(String(deaf), /deaf\.sock closed the connection before the whole request was read/);
    assert.equal(await gone, `no such socket: ${pathOf('gone')}`);
    assert.match(
      String(await file),
      /file\.sock refused the connection: it is no socket, or nothing listens/,
    );
  });

  it('are tried again while nothing has accepted the connection', async () => {
    const id = await queue('late', 'say now');
    await eventually(async () => (await show(id)).status === 'running');
    await listen('late', (socket) => void answer(socket));
    assert.equal((await ended(id)).reply, 'now');
  });

  it('lose their connection at the timeout and when a run is cancelled', async () => {
    const late = await ended(await queue('hasty', 'keep'));
    assert.equal(late.status, 'timeout', JSON.stringify(late));
    const id = await queue('good', 'keep');
    await eventually(() => silent.length === 2);
    assert.equal((await daemon.api('POST', `/api/v1/runs/${id}/cancel`)).status, 200);
    assert.equal((await show(id)).status, 'cancelled');
    await eventually(() => silent.every((socket) => socket.readableEnded || socket.destroyed));
  });

  it('are named by the start when their socket is missing or no socket', () => {
    const warned = daemon.lines.flatMap(({ msg, where }) => (msg === 'access of an agent' ? [where] : []));
    assert.deepEqual(
      warned.filter((where) => !String(where).includes('good') && !String(where).includes('deaf')),
      ['agents.file.path', 'agents.late.path', 'agents.gone.path'],
    );
  });
});
