// Waits for notifications of a PostgreSQL database (LISTEN) over a separate connection, and reconnects when it drops.
import pg from 'pg';
import { withLibpqModes } from './connection.js';

/** Delay before reconnecting, in ms. */
const RECONNECT_MS = 1_000;
const CONNECT_MS = 5_000;

export interface Listener {
  /** Resolves when the connection is closed. */
  stop(): Promise<void>;
}

/** @param wake called with each notification, and with each new connection, because earlier notifications are lost */
export function listen(connection: string, channel: string, wake: () => void): Listener {
  let isStopped = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;

  function connect(): void {
    const next = new pg.Client({
      connectionString: withLibpqModes(connection),
      application_name: 'pulsegate listen',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    client = next;
    let isLost = false;
    // Errors are not logged here: polling continues, and reports problems of the database.
    const reconnect = (): void => {
      if (isLost) return;
      isLost = true;
      next.end().catch(() => undefined);
      if (!isStopped) timer = setTimeout(connect, RECONNECT_MS).unref();
    };
    next.on('error', reconnect);
    next.on('end', reconnect);
    next.on('notification', wake);
    next
      .connect()
      .then(() => next.query(`listen ${channel}`))
      .then(wake)
      .catch(reconnect);
  }

  connect();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
