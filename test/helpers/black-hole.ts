// An address that does not answer: a listener whose backlog is full, so that the kernel drops further SYNs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Scope } from './suite.js';

export interface BlackHole {
  readonly port: number;
  /** Accepts the connections in the backlog: the kernel then answers the next retried SYN. */
  open(): void;
}

// Node accepts connections by itself, so the listener is a Python program that accepts only on request.
const PROGRAM = `
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], 0)); s.listen(0)
print(s.getsockname()[1], flush=True)
sys.stdin.readline()
held = []
while True: held.append(s.accept())
`;

/** Fills the backlog of a listener on `address`. Needs python3. */
export async function startBlackHole(t: Scope, address: string): Promise<BlackHole> {
  const child = spawn('python3', ['-c', PROGRAM, address], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const port = Number(line);
  // A backlog of 0 holds one connection. The other connections ensure that it is full.
  const plugs = Array.from({ length: 3 }, () => connect({ host: address, port }));
  for (const plug of plugs) plug.on('error', () => {});
  t.after(() => {
    for (const plug of plugs) plug.destroy();
  });
  await Promise.race(plugs.map((plug) => once(plug, 'connect')));
  return {
    port,
    open: () => void child.stdin.write('\n'),
  };
}
