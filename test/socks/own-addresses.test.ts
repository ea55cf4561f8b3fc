// The machine's own public addresses, tried with a real one: on `lo` in a network namespace of its own, where nobody else is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';
import { loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../helpers/udp-client.js';

/** Public by every list, and ours in the namespace. */
const OWN = '203.0.113.77';
const INSIDE = 'PULSEGATE_TEST_IN_NAMESPACE';

if (process.env[INSIDE]) {
  test('an own public address is private, TCP and UDP', async (t) => {
    const { ask, refusedDatagram } = await start(t, []);
    assert.equal(await ask(), 2);
    await refusedDatagram();
  });

  test('and is reached when egress.allow names it', async (t) => {
    const { ask, echoed } = await start(t, [OWN]);
    assert.equal(await ask(), 0);
    assert.equal(await echoed(), 'hello');
  });
} else {
  test('an own public address', { skip: whyNot() }, (t) => {
    const script = `ip link set lo up && ip addr add ${OWN}/32 dev lo && exec "$0" --test-reporter=spec "$1"`;
    const args = ['-n', 'sh', '-c', script, process.execPath, import.meta.filename];
    // Without its own mark the runner inside would take itself for a part of this one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const output = execFileSync('unshare', args, { env: { ...env, [INSIDE]: '1' }, encoding: 'utf8' });
    t.diagnostic(output.replaceAll('\n', ' '));
    assert.match(output, /^ℹ pass 2$/m);
  });
}

function whyNot(): string | false {
  const { skip } = needs('unshare', 'ip');
  if (skip) return skip;
  try {
    execFileSync('unshare', ['-n', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'this user may not make a network namespace';
  }
}

/** A daemon with private destinations denied, and a TCP and a UDP service on the own address. */
async function start(t: TestContext, allow: string[]) {
  const daemon = await startTestDaemon(t, { config: { egress: { private: 'deny', allow } } });
  await daemon.addAccount('player', 'secret');
  const login = { port: daemon.socks.port, username: 'player', password: 'secret' };
  const tcp = await startTarget(t, echo, OWN);
  const udp = await startUdpEcho(t, OWN);
  return {
    /** The reply to CONNECT, RFC 1928 §6. */
    async ask() {
      const client = await loggedInClient(login);
      client.send(request(OWN, tcp.port));
      const { code } = await readReply(client);
      client.destroy();
      return code;
    },
    async echoed() {
      return (await associateThrough(t, login)).roundTrip(OWN, udp.port, 'hello');
    },
    async refusedDatagram() {
      (await associateThrough(t, login)).send(OWN, udp.port, 'hello');
      const line = await daemon.waitForLine(
        (each) => each.msg === 'destination refused' && each['protocol'] === 'udp',
      );
      assert.equal(line['reason'], 'private');
    },
  };
}
