// The resolver's thread: serves the lookups of all workers, so that neither the admin API nor a worker delays a lookup.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { viewGauges } from '../shared.js';
import { prioritizeThread } from '../thread-priority.js';
import { openHostsFile } from './hosts-file.js';
import type { Answer, Question, ResolverMessage, ResolverStart } from './messages.js';
import { createResolver } from './resolver.js';

const WAKE = new Uint8Array(new BigUint64Array([1n]).buffer);

function run({ settings, gauges: memory }: ResolverStart): void {
  const hosts = openHostsFile();
  const resolver = createResolver({ ...settings, hosts });
  const gauges = viewGauges(memory);

  parentPort?.on('message', (message: ResolverMessage) => {
    if (message.kind === 'stop') {
      resolver.close();
      hosts.close();
      parentPort?.close();
      return;
    }
    const { index, wakeFd, port } = message;
    port.on('message', ({ id, name, client }: Question) => {
      resolver.resolve(name, client, (result) => {
        port.postMessage({ id, result } satisfies Answer);
        gauges.addSign(index, 'messages', 1);
        if (wakeFd !== -1) wake(wakeFd);
      });
    });
  });
}

function wake(fd: number): void {
  try {
    writeSync(fd, WAKE);
  } catch {
    // The worker has just died; its successor repeats its lookups.
  }
}

prioritizeThread('dns');
run(workerData as ResolverStart);
parentPort?.postMessage('started');
