// Players that log in while something else lasts.
import { setTimeout } from 'node:timers/promises';
import { loggedInClient, type SocksLogin } from './socks-client.js';

/** Between two logins: many more would take the processor from what lasts. */
const PAUSE_MS = 20;

/** Logs in again and again until `work` ends. Returns the number of logins that ended before it. */
export async function loginsDuring(work: Promise<unknown>, login: SocksLogin): Promise<number> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  let logins = 0;
  while (!isOver) {
    (await loggedInClient(login)).destroy();
    if (!isOver) logins += 1;
    await setTimeout(PAUSE_MS);
  }
  return logins;
}
