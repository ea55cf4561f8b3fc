// The servers that are compared: ours, danted, microsocks, 3proxy and, for HTTP, tinyproxy and squid, each on a free loopback port.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestDaemon } from '../helpers/daemon.js';
import type { Scope } from '../helpers/suite.js';

export const USER = { username: 'player', password: 'secret' };

const WITH_SBIN = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

export interface ComparedServer {
  readonly port: number;
  /** danted knows only the users of the system: its sessions begin without a login. */
  readonly hasLogin: boolean;
}

export async function startOurs(t: Scope): Promise<ComparedServer> {
  const config = { socks: { udp: { enabled: false }, protocols: ['socks5'] } };
  const daemon = await startTestDaemon(t, { config });
  await daemon.addAccount(USER.username, USER.password);
  return { port: daemon.socks.port, hasLogin: true };
}

/** The port of ours, as an HTTP proxy. */
export async function startOursForHttp(t: Scope): Promise<number> {
  const daemon = await startTestDaemon(t, { config: { socks: { protocols: ['http'] } } });
  await daemon.addAccount(USER.username, USER.password);
  return daemon.socks.port;
}

/** Its port. */
export async function startTinyproxy(t: Scope): Promise<number> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-tinyproxy-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'tinyproxy.conf');
  await writeFile(
    file,
    `Port ${port}\nListen 127.0.0.1\nTimeout 30\nBasicAuth ${USER.username} ${USER.password}\n`,
  );
  await started(t, spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' }), port);
  return port;
}

/** Its port. */
export async function startSquid(t: Scope): Promise<number> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-squid-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'squid.conf');
  const login = `${USER.username} ${USER.password}`;
  await writeFile(
    file,
    `http_port 127.0.0.1:${port}
configuration_includes_quoted_values on
auth_param basic program /bin/sh -c 'while read -r login; do [ "$login" = "${login}" ] && echo OK || echo ERR; done'
acl login proxy_auth REQUIRED
http_access allow login
http_access deny all
cache deny all
pid_filename none
access_log none
cache_log /dev/null
netdb_filename none
pinger_enable off
dns_timeout 5 seconds
shutdown_lifetime 0 seconds
`,
  );
  await started(t, spawn('squid', ['-N', '-f', file], { stdio: 'ignore', env: WITH_SBIN }), port);
  return port;
}

export async function startMicrosocks(t: Scope): Promise<ComparedServer> {
  const port = await freePort();
  const options = ['-i', '127.0.0.1', '-p', String(port), '-u', USER.username, '-P', USER.password];
  await started(t, spawn('microsocks', options, { stdio: 'ignore' }), port);
  return { port, hasLogin: true };
}

export async function start3proxy(t: Scope): Promise<ComparedServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-3proxy-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, '3proxy.cfg');
  await writeFile(
    file,
    `users ${USER.username}:CL:${USER.password}
auth strong
allow ${USER.username} * * * CONNECT
socks -46 -p${port} -i127.0.0.1
`,
  );
  await started(t, spawn('3proxy', [file], { stdio: 'ignore' }), port);
  return { port, hasLogin: true };
}

/** `commands`: what it serves, as in its configuration. */
export async function startDanted(t: Scope, commands = 'connect'): Promise<ComparedServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-danted-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'danted.conf');
  await writeFile(
    file,
    `logoutput: ${join(folder, 'log')}
internal: 127.0.0.1 port = ${port}
external.protocol: ipv4 ipv6
external: lo
clientmethod: none
socksmethod: none
client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 command: ${commands} }
socks pass { from: 0.0.0.0/0 to: ::/0 command: ${commands} }
`,
  );
  await started(t, spawn('danted', ['-f', file, '-p', join(folder, 'pid')], { stdio: 'ignore' }), port);
  return { port, hasLogin: false };
}

async function started(t: Scope, child: ChildProcess, port: number): Promise<void> {
  t.after(() => child.kill('SIGTERM'));
  for (let tries = 0; tries < 100; tries += 1) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`);
    if (await takesConnections(port)) return;
    await pause(50);
  }
  throw new Error('does not listen');
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
