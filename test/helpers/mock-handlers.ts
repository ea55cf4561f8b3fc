// What the mock /api/v1 answers, operation by operation, over an invented world.
import { randomUUID } from 'node:crypto';
import { NO_LIMITS } from '../../src/core/accounts/limits.js';
import {
  DAY,
  type FakeAccount,
  type FakeSession,
  type FakeWorld,
  fakeSamples,
  fakeWorld,
  GAMES,
} from './fake-world.js';

export class MockProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message = '',
  ) {
    super(message);
  }
}

// The contract has checked requests before they come here, and checks answers after.
// biome-ignore lint/suspicious/noExplicitAny: shapes differ by operation
type Loose = any;
export interface MockRequest {
  readonly params: Record<string, string>;
  readonly query: Loose;
  readonly body: Loose;
  readonly ifMatch: string | undefined;
}
export interface Handlers {
  readonly byOperation: Record<string, (request: MockRequest) => unknown>;
  overview(): unknown;
  samples(): { accountId: string; runId: string };
  onChange(listener: (topic: string) => void): () => void;
}

const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

/** Puts `texts` wherever a player, a caller or an agent may write. */
function writeTexts(world: FakeWorld, texts: readonly string[]): void {
  let next = 0;
  const text = () => texts[next++ % texts.length] ?? '';
  if (texts.length === 0) return;
  for (const account of world.accounts.values()) {
    account.username = text();
    account.remarks = account.username;
    account.latestGameId = account.username;
  }
  for (const session of world.sessions.values()) {
    session.gameId = text();
    session.destination.host = session.gameId;
  }
}

export function mockHandlers(size: number, texts: readonly string[] = []): Handlers {
  const world = fakeWorld(size);
  writeTexts(world, texts);
  const { accounts, sessions, random } = world;
  const listeners = new Set<(topic: string) => void>();
  const changed = (topic: string) => {
    for (const listener of listeners) listener(topic);
  };
  const startedAt = Date.now() - 3 * DAY;
  let whitelist = '127.0.0.1, 192.168.*, 10.0.0.0/8';
  let rules: Loose[] = [
    {
      id: 'arena',
      match: { hosts: ['*.arena.example', '203.0.113.0/24'], ports: [7000, '7100-7200'], protocol: 'tcp' },
    },
    { gameId: 'GAMEID=([A-Z0-9]{4,16});', match: { ports: [9000] }, maxBytes: 4096 },
  ];
  let retention: Loose = {
    heartbeatDays: 30,
    heartbeatsPerAccount: 10_000,
    runDays: 30,
    loginDays: 90,
    auditDays: 365,
  };
  let totp = false;
  const tokens: Loose[] = [
    {
      id: randomUUID(),
      name: 'billing',
      prefix: 'pg_8f2K',
      scopes: ['accounts:read', 'accounts:write'],
      createdAt: iso(startedAt),
      expiresAt: iso(Date.now() + 20 * DAY),
      lastUsedAt: iso(Date.now() - 4e5),
      lastUsedFrom: '10.0.0.7',
    },
    {
      id: randomUUID(),
      name: 'grafana',
      prefix: 'pg_Qz41',
      scopes: ['sessions:read'],
      createdAt: iso(startedAt),
      expiresAt: null,
      lastUsedAt: null,
      lastUsedFrom: null,
    },
  ];
  const audit: Loose[] = [];
  const note = (
    action: string,
    type: string,
    id: string | null,
    name: string | null,
    before: Loose,
    after: Loose,
    at = Date.now(),
  ) =>
    audit.unshift({
      id: randomUUID(),
      at: iso(at),
      actor: 'admin',
      via: at % 3 ? 'console' : 'api',
      address: '10.0.0.7',
      action,
      object: { type, id, name },
      before,
      after,
    });
  const sample = [...accounts.values()].slice(0, 60);
  for (const [i, account] of sample.entries()) {
    const at = Date.now() - (60 - i) * 0.4 * DAY;
    if (i % 4 === 0)
      note(
        'account.create',
        'account',
        account.id,
        account.username,
        null,
        { username: account.username, isEnabled: true, expiresAt: iso(at + 30 * DAY) },
        at,
      );
    else if (i % 4 === 1)
      note(
        'account.update',
        'account',
        account.id,
        account.username,
        { expiresAt: iso(at), remarks: null },
        { expiresAt: iso(at + 30 * DAY), remarks: '月付' },
        at,
      );
    else if (i % 4 === 2)
      note('settings.whitelist', 'settings', 'whitelist', null, { whitelist: '' }, { whitelist }, at);
    else note('session.end', 'session', randomUUID(), account.username, null, null, at);
  }
  const runs = fakeRuns();
  for (const [i, run] of runs.entries()) {
    const text = texts[i % Math.max(1, texts.length)];
    if (text !== undefined)
      Object.assign(run, { agent: text, session: text, message: text, reply: text, error: text });
  }

  const sessionsOf = (id: string) => [...sessions.values()].filter((session) => session.accountId === id);
  const onlineIds = () => new Set([...sessions.values()].map((session) => session.accountId));

  const view = (account: FakeAccount, mine = sessionsOf(account.id)) => ({
    id: account.id,
    username: account.username,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    createdAt: iso(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: account.expiresAt !== null && account.expiresAt <= Date.now(),
    dataCount: account.dataCount,
    latestGameId: account.latestGameId,
    todayBytesUp: account.todayBytesUp,
    todayBytesDown: account.todayBytesDown,
    limits: account.limits,
    usage: {
      sessions: mine.length,
      clientAddresses: new Set(mine.map((session) => session.client.address)).size,
      periodBytes: account.periodBytes,
      periodStartedAt: iso(Date.now() - 19 * DAY),
      periodEndsAt: iso(Date.now() + 11 * DAY),
      totalBytesUp: account.todayBytesUp * 40,
      totalBytesDown: account.todayBytesDown * 40,
    },
    etag: `"${account.version}"`,
  });
  const sessionView = (session: FakeSession) => ({
    ...session,
    username: accounts.get(session.accountId)?.username ?? '?',
    command: session.protocol === 'udp' ? 'udp-associate' : 'connect',
    openedAt: iso(session.openedAt),
    bytesPerSecondUp: session.rateUp,
    bytesPerSecondDown: session.rateDown,
  });
  const need = (id: string | undefined): FakeAccount => {
    const account = accounts.get(id ?? '');
    if (!account) throw new MockProblem(404, 'not-found');
    return account;
  };

  function matching(filter: Loose): FakeAccount[] {
    const online = onlineIds();
    const text = filter.search?.toLowerCase();
    const now = Date.now();
    return [...accounts.values()].filter((account) => {
      const isExpired = account.expiresAt !== null && account.expiresAt <= now;
      if (
        text &&
        !`${account.username}\n${account.remarks ?? ''}\n${account.latestGameId ?? ''}\n${account.id}`
          .toLowerCase()
          .includes(text)
      )
        return false;
      if (filter.online !== undefined && online.has(account.id) !== filter.online) return false;
      if (filter.enabled !== undefined && account.isEnabled !== filter.enabled) return false;
      if (filter.expired !== undefined && isExpired !== filter.expired) return false;
      if (filter.neverUsed !== undefined && (account.lastLoginAt === null) !== filter.neverUsed) return false;
      if (filter.game !== undefined && account.latestGameId !== filter.game) return false;
      if (
        filter.overQuota !== undefined &&
        (account.limits.quotaBytes !== null && account.periodBytes >= account.limits.quotaBytes) !==
          filter.overQuota
      )
        return false;
      if (filter.expiringWithinDays !== undefined) {
        if (
          account.expiresAt === null ||
          isExpired ||
          account.expiresAt > now + filter.expiringWithinDays * DAY
        )
          return false;
      }
      return true;
    });
  }

  const page = (all: readonly Loose[], query: Loose, total: number, show: (one: Loose) => unknown) => {
    const start = Number(query.cursor ?? 0);
    const items = all.slice(start, start + query.limit).map((one) => show(one));
    const next = start + query.limit;
    return { items, matched: all.length, total, nextCursor: next < all.length ? String(next) : null };
  };
  const sorted = <T>(all: T[], sort: string, key: (one: T, by: string) => string | number | null): T[] => {
    const down = sort.startsWith('-') ? -1 : 1;
    const by = sort.replace(/^-/, '');
    return all.sort((a, b) => {
      const [x, y] = [key(a, by), key(b, by)];
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
      return (x < y ? -1 : x > y ? 1 : 0) * down;
    });
  };
  const credentials = (account: FakeAccount) => ({
    id: account.id,
    username: account.username,
    password: account.password,
    link: `socks5://${encodeURIComponent(account.username)}:${encodeURIComponent(account.password)}@gate.example:1080`,
  });
  const create = (body: Loose): FakeAccount => {
    if ([...accounts.values()].some((other) => other.username === body.username))
      throw new MockProblem(409, 'username-taken', body.username);
    const account: FakeAccount = {
      id: randomUUID(),
      username: body.username,
      password: body.password ?? Math.random().toString(36).slice(2, 14),
      isEnabled: body.isEnabled,
      remarks: body.remarks,
      createdAt: Date.now(),
      lastLoginAt: null,
      expiresAt: body.expiresAt === null ? null : Date.parse(body.expiresAt),
      dataCount: 0,
      latestGameId: null,
      todayBytesUp: 0,
      todayBytesDown: 0,
      periodBytes: 0,
      limits: { ...NO_LIMITS, ...body.limits },
      version: 1,
    };
    accounts.set(account.id, account);
    note('account.create', 'account', account.id, account.username, null, { username: account.username });
    changed('accounts');
    return account;
  };

  const overview = () => {
    const all = [...accounts.values()];
    const online = onlineIds();
    const now = Date.now();
    let [up, down] = [0, 0];
    for (const session of sessions.values()) {
      session.bytesUp += session.rateUp * 2;
      session.bytesDown += session.rateDown * 2;
      up += session.rateUp;
      down += session.rateDown;
    }
    const count = (test: (account: FakeAccount) => boolean) => all.filter(test).length;
    const expired = (account: FakeAccount) => account.expiresAt !== null && account.expiresAt <= now;
    const top = all.sort((a, b) => b.todayBytesDown - a.todayBytesDown).slice(0, size === 0 ? 0 : 10);
    const jitter = 0.95 + Math.random() * 0.1;
    return {
      at: iso(now),
      sessions: sessions.size,
      playersOnline: online.size,
      bytesPerSecondUp: up * jitter,
      bytesPerSecondDown: down * jitter,
      heartbeatsPerMinute: sessions.size * 2 * jitter,
      today: {
        logins: size === 0 ? 0 : 8_214,
        failures: size === 0 ? 0 : 143,
        bytesUp: up * 40_000,
        bytesDown: down * 40_000,
        heartbeats: sessions.size * 900,
      },
      accounts: {
        total: accounts.size,
        enabled: count((a) => a.isEnabled),
        disabled: count((a) => !a.isEnabled),
        online: online.size,
        expired: count(expired),
        expiringIn7Days: count((a) => !expired(a) && a.expiresAt !== null && a.expiresAt < now + 7 * DAY),
        neverUsed: count((a) => a.lastLoginAt === null),
      },
      runs: { queued: 2, running: 1, succeededToday: 48, failedToday: 3 },
      topAccounts: top.map((a) => ({
        id: a.id,
        username: a.username,
        bytesUp: a.todayBytesUp,
        bytesDown: a.todayBytesDown,
        sessions: sessionsOf(a.id).length,
      })),
      topGames:
        size === 0
          ? []
          : GAMES.map((gameId, i) => ({
              gameId,
              accountsOnline: 180 - i * 17,
              heartbeats: 90_000 - i * 8_000,
            })),
    };
  };

  const steps = (range: string) => {
    const [count, step] = range === 'hour' ? [60, 60] : range === 'day' ? [144, 600] : [120, 21_600];
    const end = Math.floor(Date.now() / 1000 / step) * step;
    return {
      stepSeconds: step,
      at: Array.from({ length: count }, (_, i) => iso((end - (count - 1 - i) * step) * 1000)),
    };
  };

  function fakeRuns(): Loose[] {
    const states = [
      'running',
      'queued',
      'queued',
      'succeeded',
      'failed',
      'succeeded',
      'succeeded',
      'timeout',
      'cancelled',
      'succeeded',
    ];
    return Array.from({ length: 140 }, (_, i) => {
      const status = i < 3 ? states[i] : (states[3 + (i % 7)] ?? 'succeeded');
      const acceptedAt = Date.now() - i * 1_900_000 - 20_000;
      const done = status !== 'queued' && status !== 'running';
      return {
        id: randomUUID(),
        kind: i % 9 === 5 ? 'wake' : 'message',
        agent: ['reporter', 'helper', 'remote'][i % 3],
        session: `hook:${['daily', 'ops', 'billing'][i % 3]}`,
        message:
          i % 9 === 5
            ? null
            : `检查昨天的到期账号并汇总 #${140 - i}\nSummarise yesterday's expired accounts.`,
        origin: i % 5 ? 'webhook' : 'api',
        rerunOf: null,
        status,
        attempt: status === 'queued' ? 0 : 1 + (i % 6 === 4 ? 1 : 0),
        acceptedAt: iso(acceptedAt),
        startedAt: status === 'queued' ? null : iso(acceptedAt + 400),
        finishedAt: done ? iso(acceptedAt + 9_000 + (i % 13) * 1_700) : null,
        reply: status === 'succeeded' ? `昨天有 ${i + 3} 个账号到期,${i % 4} 个仍在线。` : null,
        error:
          status === 'failed'
            ? 'the command ended with exit code 1: cannot read report.json'
            : status === 'timeout'
              ? 'no answer within 2m'
              : null,
        delivery: done ? (i % 11 === 4 ? 'failed' : 'delivered') : 'none',
        deliveryTries: done ? 1 + (i % 11 === 4 ? 4 : 0) : 0,
        nextDeliveryAt: null,
      };
    });
  }
  const runDetail = (id: string | undefined) => {
    const run = runs.find((one) => one.id === id);
    if (!run) throw new MockProblem(404, 'not-found');
    const deliveries = Array.from({ length: run.deliveryTries }, (_, i) => {
      const at = Date.parse(run.finishedAt) + i * 20_000;
      const delivered = run.delivery === 'delivered' && i === run.deliveryTries - 1;
      return {
        id: randomUUID(),
        attempt: i + 1,
        channel: 'http',
        startedAt: iso(at),
        finishedAt: iso(at + 180),
        delivered,
        detail: delivered ? '200 OK' : '503 Service Unavailable',
      };
    });
    return { ...run, deliveries };
  };

  const logins = (accountId?: string): Loose[] => {
    const outcomes = [
      'success',
      'wrong-password',
      'success',
      'unknown-user',
      'success',
      'expired',
      'too-many-sessions',
      'disabled',
      'success',
      'over-quota',
    ];
    return Array.from({ length: 300 }, (_, i) => {
      const account = accountId ? need(accountId) : (sample[i % sample.length] as FakeAccount);
      const outcome = outcomes[i % outcomes.length];
      const unknown = outcome === 'unknown-user' && !accountId;
      return {
        at: iso(Date.now() - i * i * 31_000 - 40_000),
        accountId: unknown ? null : account.id,
        username: unknown ? `root${i}` : account.username,
        client: `113.66.${i % 250}.${(i * 7) % 250}`,
        outcome: accountId && outcome === 'unknown-user' ? 'wrong-password' : outcome,
        times: outcome === 'success' ? 1 : 1 + (i % 5),
      };
    });
  };
  const heartbeats = (query: Loose): Loose[] => {
    const all = query.accountId ? [need(query.accountId)] : sample;
    return Array.from({ length: 400 }, (_, i) => {
      const account = all[i % all.length] as FakeAccount;
      return {
        at: iso(Date.now() - i * 30_000),
        accountId: account.id,
        username: account.username,
        sessionId: randomUUID(),
        client: '113.66.8.21',
        destination: 'gz-3.arena.example:7000',
        protocol: 'tcp',
        bytesUp: 1_200 + i * 3,
        bytesDown: 48_000 - i * 7,
        kind: ['beat', 'beat', 'game', 'open', 'close'][i % 5],
        gameId: query.game ?? account.latestGameId,
      };
    });
  };

  const byOperation: Handlers['byOperation'] = {
    signIn: ({ body }) => {
      if (body.username !== 'admin' || body.password !== 'secret')
        throw new MockProblem(401, 'wrong-credentials');
      if (totp && body.code !== '123456') throw new MockProblem(401, 'totp-required');
      return byOperation['getMe']?.({ params: {}, query: {}, body: {}, ifMatch: undefined });
    },
    signOut: () => undefined,
    getMe: () => ({
      username: 'admin',
      via: 'console',
      address: '127.0.0.1',
      scopes: null,
      totpEnabled: totp,
      version: '0.1.0',
      startedAt: iso(startedAt),
      now: iso(Date.now()),
      socks: ['gate.example:1080'],
      accounts: accounts.size,
      heartbeatIntervalSeconds: 30,
      webhooksEnabled: true,
      maxImportBytes: 64 * 1024 * 1024,
    }),
    enrolTotp: () => ({
      secret: 'JBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Pulsegate:admin?secret=JBSWY3DPEHPK3PXP&issuer=Pulsegate',
    }),
    confirmTotp: ({ body }) => {
      if (body.code !== '123456') throw new MockProblem(409, 'wrong-credentials');
      totp = true;
    },
    disableTotp: ({ body }) => {
      if (body.code !== '123456') throw new MockProblem(409, 'wrong-credentials');
      totp = false;
    },
    getOverview: overview,
    getOverviewHistory: ({ query }) => {
      const { stepSeconds, at } = steps(query.range);
      const n = at.length;
      const peak = sessions.size;
      const gap = Math.floor(n * 0.6);
      const values = (top: number) => fakeSamples(n, top, random, gap);
      return {
        range: query.range,
        stepSeconds,
        at,
        sessions: values(peak),
        playersOnline: values(peak * 0.5),
        bytesPerSecondUp: values(6e6),
        bytesPerSecondDown: values(5.2e7),
        logins: values(90),
        failures: values(7),
        heartbeats: values(peak * 2),
        runs: values(3),
      };
    },
    listAccounts: ({ query }) => {
      const counts = new Map<string, FakeSession[]>();
      for (const session of sessions.values())
        counts.set(session.accountId, [...(counts.get(session.accountId) ?? []), session]);
      const all = sorted(matching(query), query.sort, (account: Loose, by) =>
        by === 'sessions'
          ? (counts.get(account.id)?.length ?? 0)
          : by === 'todayBytes'
            ? account.todayBytesUp + account.todayBytesDown
            : account[by],
      );
      return page(all, query, accounts.size, (account: FakeAccount) =>
        view(account, counts.get(account.id) ?? []),
      );
    },
    createAccount: ({ body }) => {
      const account = create(body);
      return { account: view(account), credentials: credentials(account) };
    },
    createAccounts: ({ body }) => {
      const names: Loose[] = body.list ?? expand(body.pattern).map((username) => ({ username }));
      const taken = new Set([...accounts.values()].map((account) => account.username));
      const fresh = names.filter((one) => !taken.has(one.username));
      const skipped = names
        .filter((one) => taken.has(one.username))
        .map((one) => ({ id: null, username: one.username, reason: 'username-taken' }));
      const created = body.dryRun ? [] : fresh.map((one) => credentials(create({ ...body, ...one })));
      return {
        dryRun: body.dryRun,
        count: fresh.length,
        created,
        usernames: body.dryRun ? fresh.map((one) => one.username) : [],
        skipped,
      };
    },
    changeAccounts: ({ body }) => bulk(body),
    getAccount: ({ params }) => view(need(params['id'])),
    changeAccount: ({ params, body, ifMatch }) => {
      const account = need(params['id']);
      if (ifMatch && ifMatch !== `"${account.version}"`) throw new MockProblem(412, 'changed-meanwhile');
      const { limits, expiresAt, ...rest } = body;
      Object.assign(account, rest);
      if (expiresAt !== undefined) account.expiresAt = expiresAt === null ? null : Date.parse(expiresAt);
      account.limits = { ...account.limits, ...limits };
      account.version++;
      note('account.update', 'account', account.id, account.username, {}, body);
      changed('accounts');
      return view(account);
    },
    deleteAccount: ({ params }) => {
      const account = need(params['id']);
      accounts.delete(account.id);
      changed('accounts');
      return { heartbeatsRemoved: account.dataCount, sessionsEnded: end(sessionsOf(account.id)) };
    },
    resetPassword: ({ params, body }) => {
      const account = need(params['id']);
      account.password = body.password ?? Math.random().toString(36).slice(2, 14);
      end(sessionsOf(account.id));
      return credentials(account);
    },
    getAccountLimits: ({ params }) => view(need(params['id'])),
    changeAccountLimits: ({ params, body }) => {
      const account = need(params['id']);
      account.limits = { ...account.limits, ...body };
      account.version++;
      changed('accounts');
      return view(account);
    },
    resetAccountUsage: ({ params }) => {
      const account = need(params['id']);
      account.periodBytes = 0;
      changed('accounts');
      return view(account);
    },
    listSessions: ({ query }) => {
      const text = query.search?.toLowerCase();
      const all = [...sessions.values()]
        .map(sessionView)
        .filter(
          (one) =>
            (!query.accountId || one.accountId === query.accountId) &&
            (!query.game || one.gameId === query.game) &&
            (!query.protocol || one.protocol === query.protocol) &&
            (!text ||
              `${one.username}\n${one.client.address}\n${one.destination.host}\n${one.gameId ?? ''}`
                .toLowerCase()
                .includes(text)),
        );
      sorted(all, query.sort, (one: Loose, by) =>
        by === 'bytes'
          ? one.bytesUp + one.bytesDown
          : by === 'bytesPerSecond'
            ? one.bytesPerSecondUp + one.bytesPerSecondDown
            : by === 'client'
              ? one.client.address
              : by === 'destination'
                ? one.destination.host
                : one[by],
      );
      return page(all, query, sessions.size, (one) => one);
    },
    endSession: ({ params }) => {
      const session = sessions.get(params['id'] ?? '');
      if (!session) throw new MockProblem(404, 'not-found');
      end([session]);
    },
    endSessions: ({ body }) => ({
      ended: end(
        body.accountId
          ? sessionsOf(body.accountId)
          : body.ids.flatMap((id: string) => sessions.get(id) ?? []),
      ),
    }),
    listLogins: ({ query }) => {
      const all = logins(query.accountId).filter(
        (one) =>
          (query.failed === undefined || (one.outcome !== 'success') === query.failed) &&
          (!query.search || `${one.username} ${one.client}`.includes(query.search)),
      );
      return page(all, query, 300, (one) => one);
    },
    getTraffic: ({ params, query }) => {
      need(params['id']);
      const today = Math.floor(Date.now() / DAY);
      return {
        days: Array.from({ length: query.days }, (_, i) => ({
          day: iso((today - query.days + 1 + i) * DAY).slice(0, 10),
          bytesUp: Math.floor(random() * 3e8),
          bytesDown: Math.floor(random() ** 2 * 4e9),
          sessions: Math.floor(random() * 40),
        })),
      };
    },
    getTimeline: ({ query }) => {
      const length = query.range === 'hour' ? DAY / 24 : query.range === 'day' ? DAY : 30 * DAY;
      const to = Date.now();
      const stretches = Array.from({ length: 9 }, (_, i) => {
        const from = to - length + (i * length) / 9.5;
        return {
          from: iso(from),
          to: iso(from + (length / 9.5) * (0.3 + random() * 0.6)),
          gameId: i % 4 === 3 ? null : (GAMES[i % 3] ?? null),
          heartbeats: Math.floor(random() * 300),
        };
      });
      return { from: iso(to - length), to: iso(to), stretches };
    },
    listHeartbeats: ({ query }) => page(heartbeats(query), query, 0, (one) => one),
    getHeartbeatSeries: ({ query }) => {
      const { stepSeconds, at } = steps(query.range);
      const keys: (string | null)[] =
        query.by === 'game'
          ? GAMES.slice(0, query.limit)
          : sample.slice(0, query.limit).map((account) => account.id);
      return {
        range: query.range,
        stepSeconds,
        at,
        series: [...keys, null].map((key, i) => {
          const counts = fakeSamples(at.length, 900 / (i + 1), random, Math.floor(at.length * 0.6));
          return {
            key,
            label: query.by === 'account' && key ? need(key).username : key,
            total: counts.reduce<number>((sum, one) => sum + (one ?? 0), 0),
            counts,
          };
        }),
      };
    },
    getHeartbeatSums: ({ query }) => {
      const keys: (string | null)[] =
        query.by === 'game' ? [...GAMES, null] : sample.map((account) => account.id);
      return {
        from: iso(Date.now() - DAY),
        to: iso(Date.now()),
        items: keys.map((key, i) => ({
          key,
          label: query.by === 'account' && key ? need(key).username : key,
          heartbeats: 90_000 - i * 1_400,
          accounts: query.by === 'game' ? 320 - i * 20 : 1,
          bytesUp: 3e9 - i * 2e7,
          bytesDown: 4e10 - i * 3e8,
          lastAt: iso(Date.now() - i * 40_000),
        })),
      };
    },
    listAgents: () => ({
      items: [
        {
          name: 'reporter',
          type: 'command',
          state: 'active',
          lastActiveAt: iso(Date.now() - 60_000),
          queued: 1,
          running: 1,
          sessionKey: 'daily',
          webhook: true,
          channel: 'file',
        },
        {
          name: 'helper',
          type: 'openai',
          state: 'idle',
          lastActiveAt: iso(Date.now() - 5e6),
          queued: 1,
          running: 0,
          sessionKey: null,
          webhook: true,
          channel: 'http',
        },
        {
          name: 'remote',
          type: 'http',
          state: 'idle',
          lastActiveAt: null,
          queued: 0,
          running: 0,
          sessionKey: null,
          webhook: false,
          channel: 'log',
        },
      ],
    }),
    sendMessage: ({ params, body }) => {
      const id = randomUUID();
      runs.unshift({
        ...runs[1],
        id,
        agent: params['name'],
        message: body.message,
        session: body.sessionKey ?? `hook:${id}`,
        status: 'queued',
        acceptedAt: iso(Date.now()),
        kind: 'message',
        origin: 'api',
      });
      changed('runs');
      return { runId: id, session: body.sessionKey ?? `hook:${id}` };
    },
    listRuns: ({ query }) =>
      page(
        runs.filter(
          (run) =>
            (!query.agent || run.agent === query.agent) &&
            (!query.status || run.status === query.status) &&
            (!query.session || run.session === query.session) &&
            (!query.search || `${run.message} ${run.reply}`.includes(query.search)),
        ),
        query,
        0,
        (run) => run,
      ),
    getRun: ({ params }) => runDetail(params['id']),
    cancelRun: ({ params }) => {
      const run = runs.find((one) => one.id === params['id']);
      if (!run) throw new MockProblem(404, 'not-found');
      if (run.status !== 'queued' && run.status !== 'running')
        throw new MockProblem(409, 'conflict', 'the run is over');
      run.status = 'cancelled';
      run.finishedAt = iso(Date.now());
      changed('runs');
      return runDetail(run.id);
    },
    rerunRun: ({ params }) => {
      const run = runDetail(params['id']);
      const id = randomUUID();
      runs.unshift({
        ...run,
        id,
        rerunOf: run.id,
        status: 'queued',
        startedAt: null,
        finishedAt: null,
        reply: null,
        error: null,
        delivery: 'none',
        deliveryTries: 0,
        acceptedAt: iso(Date.now()),
      });
      changed('runs');
      return { runId: id, session: run.session };
    },
    listAgentSessions: ({ query }) =>
      page(
        ['hook:daily', 'hook:ops', 'hook:billing'].map((key, i) => ({
          key,
          agent: ['reporter', 'helper', 'remote'][i],
          createdAt: iso(startedAt),
          lastUsedAt: iso(Date.now() - i * 4e6),
          messages: 24 - i,
          bytes: 9_000,
        })),
        query,
        0,
        (one) => one,
      ),
    getAgentSession: ({ params }) => ({
      key: params['key'],
      agent: 'reporter',
      createdAt: iso(startedAt),
      lastUsedAt: iso(Date.now()),
      messages: 4,
      bytes: 900,
      history: [1, 2, 3, 4].map((n) => ({
        role: n % 2 ? 'user' : 'assistant',
        content: n % 2 ? '昨天有多少账号到期?' : '12 个,其中 3 个仍在线。',
        at: iso(Date.now() - 90_000 * (5 - n)),
        runId: runs[5].id,
      })),
    }),
    deleteAgentSession: () => undefined,
    getWhitelist: () => ({ whitelist }),
    setWhitelist: ({ body, query }) => {
      const check = checkWhitelist(body.whitelist, undefined);
      if (!check.valid) throw new MockProblem(400, 'validation', 'entries that cannot be read');
      if (query.keepMyAccess && !check.yourAddressAllowed)
        throw new MockProblem(409, 'would-lock-you-out', '127.0.0.1');
      note('settings.whitelist', 'settings', 'whitelist', null, { whitelist }, { whitelist: body.whitelist });
      whitelist = body.whitelist;
      changed('settings');
      return { whitelist };
    },
    checkWhitelist: ({ body }) => checkWhitelist(body.whitelist, body.address),
    getGameRules: () => ({ rules, source: 'file' }),
    setGameRules: ({ body }) => {
      rules = body.rules;
      return { rules, source: 'console' };
    },
    forgetGameRules: () => ({ rules, source: 'file' }),
    testGameRules: ({ body }) => {
      const rule = body.rules.findIndex((one: Loose) => one.id);
      return {
        rule: rule < 0 ? null : rule,
        gameId: rule < 0 ? null : body.rules[rule].id,
        steps: body.rules
          .slice(0, rule < 0 ? undefined : rule + 1)
          .map((_: unknown, i: number) => ({ rule: i, outcome: i === rule ? 'matched' : 'other-port' })),
      };
    },
    getRetention: () => retention,
    setRetention: ({ body }) => {
      retention = body;
      return retention;
    },
    setAdminPassword: ({ body }) => {
      if (body.current !== 'secret') throw new MockProblem(409, 'wrong-credentials');
    },
    getEffectiveConfig: () => ({
      configFile: '/etc/pulsegate/pulsegate.yaml',
      entries: [
        ['dataDir', './data', 'default'],
        ['log.level', 'info', 'default'],
        ['socks.host', '0.0.0.0', 'file'],
        ['socks.port', '1080', 'default'],
        ['socks.handshakeTimeout', '10s', 'default'],
        ['egress.private', 'deny', 'default'],
        ['admin.host', 'localhost', 'default'],
        ['admin.port', '8080', 'environment'],
        ['webhooks.enabled', 'true', 'file'],
        ['webhooks.secret', '', 'file'],
      ].map(([path, value, source]) => ({ path, value, source, isSecret: path === 'webhooks.secret' })),
      database: { client: 'sqlite3', bytes: 812_000_000, heartbeats: 3_120_443 },
      startedAt: iso(startedAt),
    }),
    listAudit: ({ query }) => {
      const all = audit.filter(
        (one) =>
          (!query.objectId || one.object.id === query.objectId) &&
          (!query.via || one.via === query.via) &&
          (!query.action || one.action === query.action) &&
          (!query.search ||
            `${one.actor} ${one.address} ${one.action} ${one.object.name ?? ''}`.includes(query.search)),
      );
      return page(all, query, audit.length, (one) => one);
    },
    listTokens: () => ({ items: tokens }),
    createToken: ({ body }) => {
      const token = {
        id: randomUUID(),
        name: body.name,
        prefix: 'pg_Xy77',
        scopes: body.scopes,
        createdAt: iso(Date.now()),
        expiresAt: body.expiresAt,
        lastUsedAt: null,
        lastUsedFrom: null,
      };
      tokens.push(token);
      return { token, secret: 'pg_Xy77nB0v5q2mW8sLr4kT1dZ6' };
    },
    revokeToken: ({ params }) => {
      tokens.splice(
        tokens.findIndex((token) => token.id === params['id']),
        1,
      );
    },
    importAccounts: ({ query, body }) => {
      const names = String(body).trim().split('\n').slice(1);
      const lines = names.map((name, i) => ({
        line: i + 2,
        username: name.split(',')[0] ?? null,
        outcome: i % 7 === 6 ? 'skipped' : 'added',
        message: i % 7 === 6 ? 'the user name is taken' : null,
      }));
      const skipped = lines.filter((line) => line.outcome === 'skipped').length;
      return {
        dryRun: query.dryRun,
        format: query.format,
        read: names.length,
        added: names.length - skipped,
        replaced: 0,
        kept: 0,
        skipped,
        failed: 0,
        lines,
        linesLeftOut: 0,
      };
    },
  };

  function bulk(body: Loose): unknown {
    const chosen: FakeAccount[] = body.ids
      ? body.ids.flatMap((id: string) => accounts.get(id) ?? [])
      : matching(body.filter ?? {});
    const changes: Loose[] = [];
    const skipped: Loose[] = [];
    const skip = (account: FakeAccount, reason: string) =>
      skipped.push({ id: account.id, username: account.username, reason });
    let [ended, removed, count] = [0, 0, 0];
    const { action } = body;
    const change = (account: FakeAccount, before: Loose, after: Loose, apply: () => void) => {
      count++;
      if (changes.length < 100) changes.push({ id: account.id, username: account.username, before, after });
      if (!body.dryRun) apply();
    };
    for (const account of chosen) {
      if (action.type === 'enable' || action.type === 'disable') {
        const isEnabled = action.type === 'enable';
        if (account.isEnabled === isEnabled) skip(account, 'already-so');
        else
          change(account, { isEnabled: !isEnabled }, { isEnabled }, () => {
            account.isEnabled = isEnabled;
          });
        if (!isEnabled) ended += sessionsOf(account.id).length;
      } else if (action.type === 'delete') {
        removed += account.dataCount;
        ended += sessionsOf(account.id).length;
        change(account, { username: account.username }, null, () => {
          end(sessionsOf(account.id));
          accounts.delete(account.id);
        });
      } else if (action.type === 'extend') {
        if (action.from === 'expiry' && account.expiresAt === null) skip(account, 'no-expiry');
        else {
          const next = (action.from === 'now' ? Date.now() : (account.expiresAt ?? 0)) + action.days * DAY;
          change(account, { expiresAt: isoOrNull(account.expiresAt) }, { expiresAt: iso(next) }, () => {
            account.expiresAt = next;
          });
        }
      } else if (action.type === 'set-expiry') {
        change(account, { expiresAt: isoOrNull(account.expiresAt) }, { expiresAt: action.expiresAt }, () => {
          account.expiresAt = action.expiresAt === null ? null : Date.parse(action.expiresAt);
        });
      } else
        change(account, account.limits, { ...account.limits, ...action.limits }, () => {
          account.limits = { ...account.limits, ...action.limits };
        });
    }
    if (!body.dryRun) changed('accounts');
    return {
      dryRun: body.dryRun,
      count,
      changes,
      skippedCount: skipped.length,
      skipped: skipped.slice(0, 1_000),
      sessionsEnded: ended,
      heartbeatsRemoved: removed,
    };
  }

  function end(list: readonly FakeSession[]): number {
    for (const session of list) sessions.delete(session.id);
    changed('sessions');
    return list.length;
  }

  function checkWhitelist(text: string, address: string | undefined) {
    const entries = text
      .split(/[,，\n]/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map((entry) => {
        const kind =
          entry === '*'
            ? 'everyone'
            : /^[\d.]+\*$/.test(entry)
              ? 'wildcard'
              : entry.includes('/')
                ? 'cidr'
                : /^[\da-f.:]+$/i.test(entry)
                  ? 'address'
                  : 'invalid';
        return {
          text: entry,
          kind,
          first:
            kind === 'address'
              ? entry
              : kind === 'invalid' || kind === 'everyone'
                ? null
                : entry.replace(/\*.*|\/.*/, '0'),
          last:
            kind === 'address'
              ? entry
              : kind === 'invalid' || kind === 'everyone'
                ? null
                : entry.replace(/\*.*|\/.*/, '255'),
        };
      });
    const allows = (who: string) =>
      entries.length === 0 ||
      entries.some(
        (entry) =>
          entry.kind === 'everyone' ||
          entry.text === who ||
          (entry.kind === 'wildcard' && who.startsWith(entry.text.slice(0, -1))),
      );
    return {
      valid: entries.every((entry) => entry.kind !== 'invalid'),
      entries,
      yourAddress: '127.0.0.1',
      yourAddressAllowed: allows('127.0.0.1'),
      address: address ?? null,
      addressAllowed: address ? allows(address) : null,
      matchedBy: address ? (entries.find((entry) => entry.text === address)?.text ?? null) : null,
    };
  }

  function expand(pattern: string): string[] {
    const match = /^(.*)\{(\d+)-(\d+)\}(.*)$/.exec(pattern);
    if (!match) return [pattern];
    const [, before = '', low = '1', high = '1', after = ''] = match;
    const names: string[] = [];
    for (let n = Number(low); n <= Number(high) && names.length < 10_000; n++)
      names.push(`${before}${String(n).padStart(low.length, '0')}${after}`);
    return names;
  }

  return {
    byOperation,
    overview,
    samples: () => ({ accountId: [...sessions.values()][0]?.accountId ?? '', runId: runs[4]?.id ?? '' }),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
