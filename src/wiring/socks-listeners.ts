// The listeners of the SOCKS side: the one of `socks.host` and `socks.port`, and those of `socks.listeners`.
import type { Server } from 'node:net';
import type { Config } from '../config.js';
import type { Arrival } from '../socks/server.js';
import { type Listening, listenOn, listenOnPath } from './listen.js';

const DEFAULT_MODE = '0660';

/** Opens all of them, or none: throws StartError after closing what it had opened. */
export async function openSocksListeners(
  socks: Pick<Config['socks'], 'host' | 'port' | 'listeners' | 'proxyProtocol'>,
  createServerFor: (arrival: Arrival) => Server,
): Promise<Listening> {
  const opened: Listening[] = [];
  const close = (): void => {
    for (const listening of opened) listening.close();
  };
  const { proxyProtocol } = socks;
  const all = [
    { name: 'socks', host: socks.host, port: socks.port, proxyProtocol },
    ...named(socks.listeners),
  ];
  try {
    for (const listener of all) {
      const isUnix = 'path' in listener && listener.path !== undefined;
      const arrival = { proxyProtocol: listener.proxyProtocol ?? proxyProtocol, isUnix };
      opened.push(await open(listener, () => createServerFor(arrival)));
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    addresses: opened.flatMap(({ addresses }) => addresses),
    endpoints: opened.flatMap(({ endpoints }) => endpoints),
    close,
  };
}

type Listener = Partial<Config['socks']['listeners'][number]> & { readonly name: string };

function named(listeners: Config['socks']['listeners']): Listener[] {
  return listeners.map((listener, i) => ({ ...listener, name: `socks.listeners[${i}]` }));
}

function open({ name, path, mode, host, port }: Listener, createServer: () => Server): Promise<Listening> {
  if (path !== undefined) {
    return listenOnPath({ name, path, mode: Number.parseInt(mode ?? DEFAULT_MODE, 8), createServer });
  }
  return listenOn({ name, hosts: host ?? [], port: port ?? 0, createServer });
}
