// The resolver's thread: serves the lookups of all workers, so that neither the admin API nor a worker delays a lookup.
import { parentPort, workerData } from 'node:worker_threads';
import { viewGauges, wake } from '../memory/shared.js';
import { prioritizeThread } from '../thread-priority.js';
import { openHostsFile } from './hosts-file.js';
import type { Answer, Question, ResolverMessage, ResolverStart } from './messages.js';
import { createResolver } from './resolver.js';

function run({ settings, gauges: memory }: ResolverStart): void {
  const resolver = createResolver({ ...settings, hosts: openHostsFile() });
  const gauges = viewGauges(memory);

  parentPort?.on('message', ({ index, wakeFd, port }: ResolverMessage) => {
    port.on('message', ({ id, name, client }: Question) => {
      resolver.resolve(name, client, (result) => {
        port.postMessage({ id, result } satisfies Answer);
        gauges.addSign(index, 'messages', 1);
        wake(wakeFd);
      });
    });
  });
}

prioritizeThread('dns');
run(workerData as ResolverStart);
