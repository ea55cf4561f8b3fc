// The machine's own public addresses. The test adds one to `lo` in a new network namespace.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';
import { loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../helpers/udp-client.js';

/** A public address that belongs to this machine in the namespace. */
const OWN = '203.0.113.77';
const INSIDE = 'PULSEGATE_TEST_IN_NAMESPACE';

if (process.env[INSIDE]) {
  test("the machine's own public address is private for TCP and UDP", async (t) => {
    const { connectCode, assertDatagramRefused } = await start(t, []);
    assert.equal(await connectCode(), 2);
    await assertDatagramRefused();
  });

  test("the machine's own public address is permitted by egress.allow", async (t) => {
    const { connectCode, udpEcho } = await start(t, [OWN]);
    assert.equal(await connectCode(), 0);
    assert.equal(await udpEcho(), 'hello');
  });
} else {
  test("the machine's own public address follows the egress rules", { skip: skipReason() }, (t) => {
    const script = `ip link set lo up && ip addr add ${OWN}/32 dev lo && exec "$0" --test-reporter=spec "$1"`;
    const args = ['-n', 'sh', '-c', script, process.execPath, import.meta.filename];
    // With this variable, the inner test runner would report to the outer one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const output = execFileSync('unshare', args, { env: { ...env, [INSIDE]: '1' }, encoding: 'utf8' });
    t.diagnostic(output.replaceAll('\n', ' '));
    assert.match(output, /^ℹ pass 2$/m);
  });
}

function skipReason(): string | false {
  const { skip } = needs('unshare', 'ip');
  if (skip) return skip;
  try {
    execFileSync('unshare', ['-n', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'this user may not make a network namespace';
  }
}

/** Starts a daemon that denies private destinations, and a TCP and a UDP service on the own address. */
async function start(t: TestContext, allow: string[]) {
  const daemon = await startTestDaemon(t, { config: { egress: { private: 'deny', allow } } });
  await daemon.addAccount('player', 'secret');
  const login = { port: daemon.socks.port, username: 'player', password: 'secret' };
  const tcp = await startTarget(t, echo, OWN);
  const udp = await startUdpEcho(t, OWN);
  return {
    /** The reply to CONNECT, RFC 1928 §6. */
    async connectCode() {
      const client = await loggedInClient(login);
      client.send(request(OWN, tcp.port));
      const { code } = await readReply(client);
      client.destroy();
      return code;
    },
    async udpEcho() {
      return (await associateThrough(t, login)).roundTrip(OWN, udp.port, 'hello');
    },
    async assertDatagramRefused() {
      (await associateThrough(t, login)).send(OWN, udp.port, 'hello');
      const line = await daemon.waitForLine(
        (each) => each.msg === 'destination refused' && each['protocol'] === 'udp',
      );
      assert.equal(line['reason'], 'private');
    },
  };
}
