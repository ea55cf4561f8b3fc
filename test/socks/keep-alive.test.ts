// Keep-alive detects peers that vanish: after a moment it is on for both connections of a session.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { hold, startTarget } from '../helpers/targets.js';

const ESTABLISHED = '01';
/** `tr` of proc_net_tcp(5): the timer that runs for a connection. */
const KEEPALIVE_TIMER = '02';

describe('keep-alive', { skip: process.platform !== 'linux' && 'reads /proc/net/tcp' }, () => {
  const scope = suiteScope();

  it('is on for both connections of a longer session', { timeout: 90_000 }, async (t) => {
    const daemon = await startTestDaemon(scope);
    await daemon.addAccount('lasting', 'secret');
    const target = await startTarget(t, hold);
    const { port } = daemon.socks;
    await connectThrough({ port, username: 'lasting', password: 'secret' }, '127.0.0.1', target.port);
    await eventually(() => {
      const client = timers((local) => local === port);
      const destination = timers((_local, remote) => remote === target.port);
      assert.deepEqual([...client, ...destination], [KEEPALIVE_TIMER, KEEPALIVE_TIMER]);
    });
  });
});

/** Returns the timers of the established connections whose ports match. */
function timers(matches: (local: number, remote: number) => boolean): string[] {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  return rows.flatMap((row) => {
    const [, local = '', remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    const isMatch = state === ESTABLISHED && matches(portOf(local), portOf(remote));
    return isMatch ? [timer.split(':')[0] ?? ''] : [];
  });
}

function portOf(end: string): number {
  return Number.parseInt(end.split(':')[1] ?? '', 16);
}
