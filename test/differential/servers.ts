// The compared servers: Pulsegate, danted, microsocks, 3proxy and, for HTTP, tinyproxy and squid, each on a free loopback port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { freePort, isListening } from '../helpers/ports.js';
import type { Scope } from '../helpers/suite.js';

export const USER = { username: 'player', password: 'secret' };

const WITH_SBIN = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

export interface ComparedServer {
  readonly port: number;
  /** danted knows only the users of the system, so its sessions begin without a login. */
  readonly hasLogin: boolean;
}

export async function startPulsegate(t: Scope): Promise<ComparedServer> {
  const config = { socks: { udp: { enabled: false }, protocols: ['socks5'] } };
  const daemon = await startTestDaemon(t, { config });
  await daemon.addAccount(USER.username, USER.password);
  return { port: daemon.socks.port, hasLogin: true };
}

/** Starts Pulsegate as an HTTP proxy, and returns its port. */
export async function startPulsegateForHttp(t: Scope): Promise<number> {
  const daemon = await startTestDaemon(t, { config: { socks: { protocols: ['http'] } } });
  await daemon.addAccount(USER.username, USER.password);
  return daemon.socks.port;
}

/** Returns the port. */
export async function startTinyproxy(t: Scope): Promise<number> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-tinyproxy-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'tinyproxy.conf');
  await writeFile(
    file,
    `Port ${port}\nListen 127.0.0.1\nTimeout 30\nBasicAuth ${USER.username} ${USER.password}\n`,
  );
  await waitUntilListening(t, spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' }), port);
  return port;
}

/** Returns the port. */
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
  await waitUntilListening(t, spawn('squid', ['-N', '-f', file], { stdio: 'ignore', env: WITH_SBIN }), port);
  return port;
}

export async function startMicrosocks(t: Scope): Promise<ComparedServer> {
  const port = await freePort();
  const options = ['-i', '127.0.0.1', '-p', String(port), '-u', USER.username, '-P', USER.password];
  await waitUntilListening(t, spawn('microsocks', options, { stdio: 'ignore' }), port);
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
  await waitUntilListening(t, spawn('3proxy', [file], { stdio: 'ignore' }), port);
  return { port, hasLogin: true };
}

/** @param commands the allowed commands, as in the configuration of danted */
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
  await waitUntilListening(
    t,
    spawn('danted', ['-f', file, '-p', join(folder, 'pid')], { stdio: 'ignore' }),
    port,
  );
  return { port, hasLogin: false };
}

/** Rejects when the server ends. */
async function waitUntilListening(t: Scope, child: ChildProcess, port: number): Promise<void> {
  t.after(() => child.kill('SIGTERM'));
  const exited = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}`)));
  await Promise.race([eventually(() => isListening(port)), exited]);
}
