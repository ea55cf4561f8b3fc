// The ports on which BIND and UDP ASSOCIATE try to listen.
import type { PortRange } from '../../core/port-range.js';

/**
 * The ports of `range`, each once, from a random one: a port that is hard to guess keeps others from finding the client's side.
 * Without a range only 0, with which the system chooses a port.
 */
export function* candidatePorts(range: PortRange | null): Generator<number, undefined> {
  const [first, last] = range ?? [0, 0];
  const size = last - first + 1;
  const start = Math.floor(Math.random() * size);
  for (let i = 0; i < size; i += 1) yield first + ((start + i) % size);
}
