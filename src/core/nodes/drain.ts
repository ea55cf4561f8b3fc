// Draining a node: it accepts no new connections, and its sessions continue until they end.
import type { Actor } from '../audit/audit.js';
import type { NodeStore } from './nodes.js';

/** Returns false when there is no such node. Rejects when the database cannot be written. */
export function setDrained(
  nodes: Pick<NodeStore, 'setDrained'>,
  name: string,
  isDrained: boolean,
  by: Actor,
): Promise<boolean> {
  return nodes.setDrained(name, isDrained, {
    by,
    action: isDrained ? 'node.drain' : 'node.undrain',
    object: { type: 'node', id: null, name },
    before: null,
    after: null,
  });
}
