// Peers that are gone without a word are noticed: what lasts for a moment has keepalive on both of its connections.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestDaemon } from '../helpers/daemon.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { hold, startTarget } from '../helpers/targets.js';

const ESTABLISHED = '01';
/** `tr` of proc_net_tcp(5): the timer that runs for a connection. */
const KEEPALIVE_TIMER = '02';
const PATIENCE_MS = 30_000;

describe('keepalive', { skip: process.platform !== 'linux' && 'reads /proc/net/tcp' }, () => {
  const scope = suiteScope();

  it('is on for both connections of a session that lasts', { timeout: 90_000 }, async (t) => {
    const daemon = await startTestDaemon(scope);
    await daemon.addAccount('lasting', 'secret');
    const target = await startTarget(t, hold);
    const { port } = daemon.socks;
    await connectThrough({ port, username: 'lasting', password: 'secret' }, '127.0.0.1', target.port);
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const client = timers((local) => local === port);
      const destination = timers((_local, remote) => remote === target.port);
      if ([...client, ...destination].join() === `${KEEPALIVE_TIMER},${KEEPALIVE_TIMER}`) return;
      assert.ok(Date.now() < until, `timers are ${JSON.stringify({ client, destination })}`);
      await delay(50);
    }
  });
});

/** The timers of the established connections that `matches` chooses by their ports. */
function timers(matches: (local: number, remote: number) => boolean): string[] {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  return rows.flatMap((row) => {
    const [, local = '', remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    const isChosen = state === ESTABLISHED && matches(portOf(local), portOf(remote));
    return isChosen ? [timer.split(':')[0] ?? ''] : [];
  });
}

function portOf(end: string): number {
  return Number.parseInt(end.split(':')[1] ?? '', 16);
}
