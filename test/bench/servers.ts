// The compared servers: the daemon with each engine, and every installed peer.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NO_GUARD, startTestDaemon } from '../helpers/daemon.js';
import { freePort, isListening } from '../helpers/ports.js';
import { findProgram } from '../helpers/programs.js';
import type { Scope } from '../helpers/suite.js';
import type { Route } from './load.js';

export interface Server extends Route {
  readonly name: string;
  readonly pid: number;
  readonly hasUdp: boolean;
  /** Runs on Node, which compiles code while it runs. */
  readonly isOnNode: boolean;
}

/** Not a peer: the costs of Node itself. */
export const BARE = 'bare node:net';

const USER = 'player';
const PASSWORD = 'secret';
/** Debian's golang-github-armon-go-socks5-dev. */
const GO_PATH = '/usr/share/gocode';

export async function startServers(t: Scope, folder: string): Promise<Server[]> {
  const servers = [
    await startPulsegate(t, 'native'),
    await startPulsegate(t, 'node'),
    await startBare(t),
    await startMicrosocks(t),
    await startDante(t, folder),
    await startGo(t, folder),
    await start3proxy(t, folder),
    await startHev(t, folder),
  ];
  return servers.filter((server) => server !== null);
}

async function startPulsegate(t: Scope, engine: 'native' | 'node'): Promise<Server> {
  const daemon = await startTestDaemon(t, {
    config: { controlPlaneNice: 5, guard: NO_GUARD, socks: { engine } },
  });
  await daemon.addAccount(USER, PASSWORD);
  const { pid, socks } = daemon;
  return {
    name: `pulsegate (${engine})`,
    pid,
    proxyPort: socks.port,
    user: USER,
    password: PASSWORD,
    hasUdp: true,
    isOnNode: true,
  };
}

async function startBare(t: Scope): Promise<Server | null> {
  const port = await freePort();
  const program = join(import.meta.dirname, 'bare.js');
  return await start(t, BARE, port, true, process.execPath, [program, String(port)]);
}

async function startMicrosocks(t: Scope): Promise<Server | null> {
  const program = findProgram('microsocks');
  if (!program) return null;
  const port = await freePort();
  const args = ['-i', '127.0.0.1', '-p', String(port), '-u', USER, '-P', PASSWORD];
  return await start(t, 'microsocks', port, false, program, args);
}

/** Dante knows only system users, so it is measured without logins, which is an advantage. */
async function startDante(t: Scope, folder: string): Promise<Server | null> {
  const program = findProgram('danted') ?? findProgram('sockd');
  if (!program) return null;
  const port = await freePort();
  const config = join(folder, 'danted.conf');
  writeFileSync(
    config,
    `internal: 127.0.0.1 port = ${port}
external: lo
socksmethod: none
clientmethod: none
user.privileged: ${userName()}
user.unprivileged: ${userName()}
client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
`,
  );
  const args = ['-f', config, '-p', join(folder, 'danted.pid')];
  return await start(t, 'dante (no login)', port, true, program, args, { user: '', password: '' });
}

async function startGo(t: Scope, folder: string): Promise<Server | null> {
  const program = findProgram('go');
  if (!program || !existsSync(join(GO_PATH, 'src/github.com/armon/go-socks5'))) return null;
  const source = join(folder, 'go');
  mkdirSync(source);
  writeFileSync(
    join(source, 'main.go'),
    `package main

import (
	"os"

	"github.com/armon/go-socks5"
)

func main() {
	users := socks5.StaticCredentials{"${USER}": "${PASSWORD}"}
	server, err := socks5.New(&socks5.Config{Credentials: users})
	if err != nil {
		panic(err)
	}
	panic(server.ListenAndServe("tcp", "127.0.0.1:"+os.Args[1]))
}
`,
  );
  const built = join(source, 'server');
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: GO_PATH, GOCACHE: join(source, 'cache') };
  execFileSync(program, ['build', '-o', built, join(source, 'main.go')], { env });
  const port = await freePort();
  return await start(t, 'go-socks5', port, false, built, [String(port)]);
}

async function start3proxy(t: Scope, folder: string): Promise<Server | null> {
  const program = findProgram('3proxy');
  if (!program) return null;
  const port = await freePort();
  const config = join(folder, '3proxy.cfg');
  const users = `users ${USER}:CL:${PASSWORD}\nauth strong\nallow ${USER}\n`;
  writeFileSync(config, `${users}maxconn 9900\nsocks -p${port} -i127.0.0.1 -e127.0.0.1\n`);
  return await start(t, '3proxy', port, true, program, [config]);
}

async function startHev(t: Scope, folder: string): Promise<Server | null> {
  const program = findProgram('hev-socks5-server');
  if (!program) return null;
  const port = await freePort();
  const config = join(folder, 'hev.yml');
  const main = `main:\n  workers: 1\n  port: ${port}\n  listen-address: '127.0.0.1'\n`;
  writeFileSync(config, `${main}auth:\n  username: ${USER}\n  password: ${PASSWORD}\n`);
  return await start(t, 'hev-socks5-server', port, true, program, [config]);
}

async function start(
  t: Scope,
  name: string,
  port: number,
  hasUdp: boolean,
  program: string,
  args: readonly string[],
  login = { user: USER, password: PASSWORD },
): Promise<Server | null> {
  const child = spawn(program, args, { stdio: 'ignore' });
  t.after(() => {
    child.kill();
  });
  if (!(await startsListening(child, port))) {
    process.stderr.write(`${name} does not start here and is left out: ${program} ${args.join(' ')}\n`);
    return null;
  }
  const isOnNode = program === process.execPath;
  return { name, pid: child.pid ?? 0, proxyPort: port, ...login, hasUdp, isOnNode };
}

async function startsListening(child: ChildProcess, port: number): Promise<boolean> {
  for (let i = 0; i < 50 && child.exitCode === null; i += 1) {
    if (await isListening(port)) return true;
    await delay(100);
  }
  return false;
}

function userName(): string {
  return execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
}
