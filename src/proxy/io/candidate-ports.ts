// The ports on which BIND and UDP ASSOCIATE try to listen.
import type { PortRange } from '../../core/endpoints.js';

/**
 * The ports of `range`, each once, beginning with a random one, so that others cannot guess the port of the client's side. Without
 * a range only 0: the system chooses a port.
 */
export function* candidatePorts(range: PortRange | null): Generator<number, undefined> {
  const [first, last] = range ?? [0, 0];
  const size = last - first + 1;
  const start = Math.floor(Math.random() * size);
  for (let i = 0; i < size; i += 1) yield first + ((start + i) % size);
}
