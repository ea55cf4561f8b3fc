// Clients that have not come as far as a request: how many there may be, in all and from one source.
// When there are too many, the one that has waited longest has to go. A real client needs a few milliseconds here and
// is hardly ever the one, while sockets that only wait lose their places to those who come.
import type { Socket } from 'node:net';
import { sourceOf } from '../core/source.js';

export interface WaitingRoom {
  /**
   * The client begins its handshake, or its address is known by now. `address` null: it is not known yet, or says
   * nothing (Unix sockets); then only the number of all clients counts.
   */
  enter(client: Socket, address: string | null): void;
  /** Its handshake has ended, one way or the other; one that is not here (any more) is passed over. */
  leave(client: Socket): void;
  /** Destroys all of them. */
  close(): void;
  /** How many had to go since the last call. */
  takeEvicted(): number;
}

export function createWaitingRoom(options: {
  readonly maxClients: number;
  readonly maxPerSource: number;
}): WaitingRoom {
  const sourceOfClient = new Map<Socket, string | null>();
  const clientsOfSource = new Map<string, Set<Socket>>();
  let evicted = 0;

  function leave(client: Socket): void {
    const source = sourceOfClient.get(client);
    sourceOfClient.delete(client);
    if (source === undefined || source === null) return;
    const clients = clientsOfSource.get(source);
    clients?.delete(client);
    if (clients?.size === 0) clientsOfSource.delete(source);
  }

  function evictFirst(clients: Iterable<Socket>): void {
    const [oldest] = clients;
    if (!oldest) return;
    leave(oldest);
    oldest.destroy();
    evicted += 1;
  }

  return {
    enter(client, address) {
      leave(client);
      if (sourceOfClient.size >= options.maxClients) evictFirst(sourceOfClient.keys());
      const source = address === null ? null : sourceOf(address);
      if (source !== null) {
        const clients = clientsOfSource.get(source);
        if (clients && clients.size >= options.maxPerSource) evictFirst(clients);
        const others = clientsOfSource.get(source);
        if (others) others.add(client);
        else clientsOfSource.set(source, new Set([client]));
      }
      sourceOfClient.set(client, source);
    },
    leave,
    close() {
      for (const client of [...sourceOfClient.keys()]) client.destroy();
    },
    takeEvicted() {
      const taken = evicted;
      evicted = 0;
      return taken;
    },
  };
}
