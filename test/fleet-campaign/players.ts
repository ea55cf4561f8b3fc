// The players of a campaign: echo sessions through haproxy, each player with its own source address. The campaign compares the
// bytes of the players with the bytes that the fleet counted.
import { setTimeout as pause } from 'node:timers/promises';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { type Ledger, nameOfError } from './ledger.js';

export interface Player {
  readonly username: string;
  readonly password: string;
  /** The source address. haproxy chooses the node by it. */
  readonly from: string;
}

export const PLAYERS: readonly Player[] = Array.from({ length: 24 }, (_, n) => ({
  username: `player-${n}`,
  password: 'secret',
  from: `127.0.1.${n + 1}`,
}));

/** Number of bytes of all players. */
export interface Traffic {
  sent: number;
  received: number;
  /** Returns the bytes received in the last `ms`. A killed node may not have stored them. */
  recent(ms: number): number;
}

const MESSAGE = Buffer.alloc(500, 'x');
const BETWEEN_MS = 50;
/** Numbers of messages per session. The sessions last from one to eight seconds. */
const MESSAGES = [20, 60, 160];

export interface Load {
  readonly players: number;
  readonly targetPort: number;
  readonly ledger: Ledger;
  readonly isOver: () => boolean;
}

/** Opens a session. @throws when the connection fails, or the login or the request is refused */
export async function play(load: Pick<Load, 'players' | 'targetPort'>, player: Player): Promise<RawClient> {
  const client = await RawClient.connect(load.players, '127.0.0.1', player.from);
  try {
    client.send(
      Buffer.concat([
        greeting(2),
        login(player.username, player.password),
        request('127.0.0.1', load.targetPort),
      ]),
    );
    const answer = (await client.read(4)).toString('hex');
    if (answer !== '05020100') throw new LoginRefused(`login answered ${answer}`);
    const { code } = await readReply(client);
    if (code !== 0) throw new LoginRefused(`request answered ${code}`);
    return client;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

export class LoginRefused extends Error {}

export function createTraffic(): Traffic & { add(sent: number, received: number): void } {
  const history: { at: number; received: number }[] = [];
  const traffic = {
    sent: 0,
    received: 0,
    add(sent: number, received: number) {
      traffic.sent += sent;
      traffic.received += received;
      if (received > 0) history.push({ at: Date.now(), received: traffic.received });
      while (history.length > 0 && Date.now() - (history[0]?.at ?? 0) > KEPT_MS) history.shift();
    },
    recent(ms: number) {
      const before = history.filter(({ at }) => at <= Date.now() - ms).at(-1);
      return traffic.received - (before?.received ?? history[0]?.received ?? 0);
    },
  };
  return traffic;
}

const KEPT_MS = 20_000;

/**
 * Runs one session after another until the campaign is over.
 * @param isLong keeps one session for the whole campaign
 */
export async function keepPlaying(
  load: Load,
  player: Player,
  traffic: ReturnType<typeof createTraffic>,
  isLong: boolean,
): Promise<void> {
  const { ledger } = load;
  for (let n = 0; !load.isOver(); n += 1) {
    const startedAt = Date.now();
    let stage = 'login';
    let client: RawClient | null = null;
    try {
      ledger.count('logins sent');
      client = await play(load, player);
      ledger.count('logins answered');
      ledger.took('login', Date.now() - startedAt);
      stage = 'session';
      const messages = isLong ? Number.POSITIVE_INFINITY : (MESSAGES[n % MESSAGES.length] ?? 0);
      for (let i = messages; i > 0 && !load.isOver(); i -= 1) {
        traffic.add(MESSAGE.length, 0);
        client.send(MESSAGE);
        await client.read(MESSAGE.length);
        traffic.add(0, MESSAGE.length);
        await pause(BETWEEN_MS);
      }
      if (isLong) ledger.count('sessions that lasted the whole campaign');
    } catch (error) {
      const failure = `${stage} ${stage === 'login' ? 'failed' : 'cut'}`;
      ledger.count(`${failure} (${nameOfError(error)})`);
      if (error instanceof LoginRefused) ledger.breach(`a correct login was refused: ${error.message}`);
      else if (!ledger.wasDisturbed('players', startedAt))
        ledger.breach(`${failure} without a fault of haproxy or a node: ${nameOfError(error)}`);
      await pause(BETWEEN_MS);
    }
    client?.destroy();
  }
}
