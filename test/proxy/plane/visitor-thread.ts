// Players in a separate thread, for tests that block the thread of the control plane.
import { workerData } from 'node:worker_threads';
import { connectThrough, greeting, login, RawClient } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';

export interface Visits {
  readonly port: number;
  readonly usernames: readonly string[];
  readonly password: string;
  readonly sessions: number;
  readonly wrongLogins: number;
  readonly atOnce: number;
  /** [0] is set to 1 when all visits have ended, and to 2 when one has failed; [1] counts those that have ended. */
  readonly done: Int32Array;
}

const { port, usernames, password, sessions, wrongLogins, atOnce, done } = workerData as Visits;
const closers: (() => unknown)[] = [];
const target = await startTarget({ after: (close) => closers.push(close) }, echo);

async function visit(i: number): Promise<void> {
  const username = usernames[i % usernames.length] ?? '';
  if (i < sessions) {
    const client = await connectThrough({ port, username, password }, '127.0.0.1', target.port);
    return client.destroy();
  }
  const client = await RawClient.connect(port);
  client.send(Buffer.concat([greeting(2), login(username, 'wrong')]));
  const answer = await client.read(4);
  if (answer[3] === 0) throw new Error('a wrong password was accepted');
  client.destroy();
}

let next = 0;
async function visitOneByOne(): Promise<void> {
  for (let i = next++; i < sessions + wrongLogins; i = next++) {
    await visit(i);
    Atomics.add(done, 1, 1);
  }
}

function end(state: 1 | 2): void {
  Atomics.store(done, 0, state);
  Atomics.notify(done, 0);
}

try {
  await Promise.all(Array.from({ length: atOnce }, visitOneByOne));
  for (const close of closers) await close();
  end(1);
} catch (error) {
  end(2);
  throw error;
}
