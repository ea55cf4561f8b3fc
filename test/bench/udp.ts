// UDP echo through the daemon and through a bare node:dgram relay, in turn: datagrams a second, and CPU per datagram.
// SOCKSBENCH names the load generator: a program that has the modes `serve PORT` and `udp -p PROXY -t TARGET -n … -s … -c …`.
// Run: SOCKSBENCH=… node dist/test/bench/udp.js [datagrams] [rounds]
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NO_GUARD, startTestDaemon } from '../helpers/daemon.js';

const TICKS_PER_SECOND = 100;
const [datagrams = '60000', rounds = '5'] = process.argv.slice(2);
const generator = process.env['SOCKSBENCH'];
if (!generator) throw new Error('SOCKSBENCH must name the load generator');

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly lost: number;
}

/** User and system time of a process and its threads so far, in µs. */
function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
}

async function measure(pid: number, proxy: readonly string[], target: string): Promise<Round> {
  const before = cpuUs(pid);
  const load = ['udp', ...proxy, '-t', target, '-n', datagrams, '-s', '200', '-c', '32'];
  const { stdout } = await promisify(execFile)(generator ?? '', load);
  const [, packets = '0', lost = '0', perSecond = '0'] =
    /packets (\d+) lost (\d+) seconds \S+ pps (\d+)/.exec(stdout) ?? [];
  return {
    perSecond: Number(perSecond),
    cpuUs: (cpuUs(pid) - before) / Number(packets),
    lost: Number(lost),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = child.stdout ? await once(child.stdout, 'data') : [''];
  return String(chunk).trim();
}

const closers: (() => unknown)[] = [];
const scope = { after: (close: () => unknown) => void closers.push(close) };
const daemon = await startTestDaemon(scope, { config: { guard: NO_GUARD } });
await daemon.addAccount('user', 'pass');
const bare = spawn(process.execPath, [join(import.meta.dirname, 'bare-udp-relay.js')]);
scope.after(() => bare.kill());
const barePort = await firstLine(bare);
const targetPort = '17321';
const target = spawn(generator, ['serve', targetPort], { stdio: 'ignore' });
scope.after(() => target.kill());
await once(target, 'spawn');

const servers = [
  {
    name: 'pulsegate',
    pid: daemon.pid,
    proxy: ['-p', String(daemon.socks.port), '-u', 'user', '-k', 'pass'],
  },
  { name: 'bare dgram', pid: bare.pid ?? 0, proxy: ['-p', barePort, '-u', ''] },
].map((server) => ({ ...server, rounds: [] as Round[] }));
for (let round = 0; round <= Number(rounds); round += 1) {
  for (const server of servers) {
    const result = await measure(server.pid, server.proxy, targetPort);
    // In the first round Node compiles the code.
    if (round > 0) server.rounds.push(result);
  }
}
for (const { name, rounds: measured } of servers) {
  const perSecond = median(measured.map((each) => each.perSecond));
  const cpu = median(measured.map((each) => each.cpuUs));
  const lost = measured.reduce((sum, each) => sum + each.lost, 0);
  console.log(`${name.padEnd(12)} ${perSecond} echoes/s, ${cpu.toFixed(1)} us CPU each, ${lost} lost`);
}
for (const close of closers.reverse()) await close();
