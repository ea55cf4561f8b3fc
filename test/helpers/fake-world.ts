// An invented daemon's contents for developing and testing the console: always the same for the same size.
import { randomUUID } from 'node:crypto';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface FakeAccount {
  id: string;
  username: string;
  password: string;
  isEnabled: boolean;
  remarks: string | null;
  createdAt: number;
  lastLoginAt: number | null;
  expiresAt: number | null;
  dataCount: number;
  latestGameId: string | null;
  todayBytesUp: number;
  todayBytesDown: number;
  periodBytes: number;
  limits: {
    maxSessions: number | null;
    maxClientAddresses: number | null;
    bytesPerSecondUp: number | null;
    bytesPerSecondDown: number | null;
    quotaBytes: number | null;
    quotaPeriod: 'day' | 'week' | 'month' | 'never';
    egressClass: string | null;
  };
  version: number;
}

export interface FakeSession {
  id: string;
  accountId: string;
  client: { address: string; port: number };
  destination: { host: string; address: string; port: number };
  protocol: 'tcp' | 'udp';
  clientProtocol: 'socks5' | 'http';
  gameId: string | null;
  openedAt: number;
  bytesUp: number;
  bytesDown: number;
  rateUp: number;
  rateDown: number;
}

export interface FakeWorld {
  readonly now: number;
  readonly accounts: Map<string, FakeAccount>;
  readonly sessions: Map<string, FakeSession>;
  /** 0 ≤ x < 1, the next of a fixed sequence. */
  readonly random: () => number;
}

export const GAMES = [
  'arena',
  'mahjong-hz',
  'starline',
  'DRAGON88',
  'kart',
  '原野行动',
  'tower',
  'poker-7',
  'mir2',
  'ninth',
];
const REMARKS = [
  'QQ 群 1 号',
  '淘宝 8812',
  null,
  null,
  '月付',
  'tg @lihua',
  'reseller A',
  null,
  '试用',
  'VIP,勿停',
];

/** `size` accounts, about one in twelve of them online. */
export function fakeWorld(size: number, now = Date.now()): FakeWorld {
  let state = 20_261_120;
  const random = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const accounts = new Map<string, FakeAccount>();
  const sessions = new Map<string, FakeSession>();
  for (let n = 1; n <= size; n++) {
    const account = fakeAccount(n);
    accounts.set(account.id, account);
    const online = account.isEnabled && account.lastLoginAt !== null && (account.expiresAt ?? now + 1) > now;
    if (online && random() < 0.12) for (let i = 0; i < 1 + random() * 3; i++) addSession(account);
  }
  return { now, accounts, sessions, random };

  function fakeAccount(n: number): FakeAccount {
    const createdAt = now - random() * 400 * DAY;
    const used = random() < 0.86;
    const fate = random();
    const expiresAt =
      fate < 0.15 ? null : fate < 0.25 ? now - random() * 40 * DAY : now + random() * random() * 200 * DAY;
    const down = used && random() < 0.5 ? Math.floor(random() ** 4 * 6e9) : 0;
    const quota = random() < 0.6 ? pick([50e9, 100e9, 200e9]) : null;
    return {
      id: randomUUID(),
      username: `${pick(['player', 'vip', 'guest', 'hz', 'wang', 'li.'])}${String(n).padStart(5, '0')}`,
      password: 'secret',
      isEnabled: random() > 0.06,
      remarks: pick(REMARKS),
      createdAt,
      lastLoginAt: used ? now - random() ** 3 * 30 * DAY : null,
      expiresAt,
      dataCount: used ? Math.floor(random() ** 2 * 9_800) : 0,
      latestGameId: used && random() < 0.8 ? pick(GAMES) : null,
      todayBytesUp: Math.floor(down * 0.12),
      todayBytesDown: down,
      periodBytes: quota && used ? Math.floor(random() ** 2 * quota * 1.08) : down * 9,
      limits: {
        maxSessions: random() < 0.7 ? pick([8, 16, 32]) : null,
        maxClientAddresses: random() < 0.5 ? pick([1, 2, 3]) : null,
        bytesPerSecondUp: null,
        bytesPerSecondDown: random() < 0.3 ? 1_250_000 : null,
        quotaBytes: quota,
        quotaPeriod: 'month',
        egressClass: null,
      },
      version: 1,
    };
  }

  function addSession(account: FakeAccount): void {
    const game = random() < 0.85 ? (account.latestGameId ?? null) : null;
    const session: FakeSession = {
      id: randomUUID(),
      accountId: account.id,
      client: {
        address: `${pick([36, 113, 183, 223])}.${Math.floor(random() * 250)}.${Math.floor(random() * 250)}.${Math.floor(random() * 250)}`,
        port: 1024 + Math.floor(random() * 60_000),
      },
      destination: {
        host: game
          ? `${pick(['gz', 'sh', 'hk'])}-${Math.floor(random() * 9)}.${game === '原野行动' ? 'wild' : game.toLowerCase()}.example`
          : 'www.example.com',
        address: `203.0.113.${Math.floor(random() * 250)}`,
        port: pick([443, 7000, 7100, 9000]),
      },
      protocol: random() < 0.3 ? 'udp' : 'tcp',
      clientProtocol: 'socks5',
      gameId: game,
      openedAt: now - random() ** 2 * 9 * HOUR,
      bytesUp: Math.floor(random() ** 3 * 9e7),
      bytesDown: Math.floor(random() ** 3 * 9e8),
      rateUp: Math.floor(random() ** 4 * 90_000),
      rateDown: Math.floor(random() ** 4 * 900_000),
    };
    sessions.set(session.id, session);
  }
}

/** `steps` values that rise and fall over a day, with a gap. */
export function fakeSamples(
  steps: number,
  peak: number,
  random: () => number,
  gapAt = -1,
): (number | null)[] {
  return Array.from({ length: steps }, (_, i) => {
    if (gapAt >= 0 && i >= gapAt && i < gapAt + Math.max(2, steps / 20)) return null;
    const wave = 0.55 + 0.4 * Math.sin((i / steps) * Math.PI * 2 - 1.2);
    return Math.round(peak * (wave + (random() - 0.5) * 0.12));
  });
}
