// Keep-alive detects peers that vanish: after a moment it is on for both connections of a session.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough } from '../helpers/socks-client.js';
import { hold, startTarget } from '../helpers/targets.js';

const ESTABLISHED = '01';
/** `tr` of proc_net_tcp(5): the timer that runs for a connection. */
const KEEPALIVE_TIMER = '02';
/** USER_HZ of `tm->when`, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;
const FIRST_PROBE_S = 60;

describe('keep-alive', { skip: process.platform !== 'linux' && 'reads /proc/net/tcp' }, () => {
  for (const engine of ['native', 'node'] as const) {
    it(`is on for both connections of a longer session (${engine})`, { timeout: 90_000 }, async (t) => {
      const daemon = await startTestDaemon(t, { config: { socks: { engine } } });
      await daemon.addAccount('lasting', 'secret');
      const target = await startTarget(t, hold);
      const { port } = daemon.socks;
      await connectThrough({ port, username: 'lasting', password: 'secret' }, '127.0.0.1', target.port);
      await eventually(() => {
        const client = timers((local) => local === port);
        const destination = timers((_local, remote) => remote === target.port);
        assert.equal(client.length + destination.length, 2);
        for (const { kind, seconds } of [...client, ...destination]) {
          assert.equal(kind, KEEPALIVE_TIMER);
          assert.ok(seconds <= FIRST_PROBE_S, `the next probe is sent in ${seconds} s`);
        }
        const apart = Math.abs((client[0]?.seconds ?? 0) - (destination[0]?.seconds ?? 0));
        assert.ok(apart > 0.5, `the probes are sent ${apart} s apart`);
      });
    });
  }
});

/** Returns the timers of the established connections whose ports match, and when they expire. */
function timers(matches: (local: number, remote: number) => boolean) {
  const [, ...rows] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  return rows.flatMap((row) => {
    const [, local = '', remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    if (state !== ESTABLISHED || !matches(portOf(local), portOf(remote))) return [];
    const [kind = '', when = ''] = timer.split(':');
    return [{ kind, seconds: Number.parseInt(when, 16) / TICKS_PER_SECOND }];
  });
}

function portOf(end: string): number {
  return Number.parseInt(end.split(':')[1] ?? '', 16);
}
