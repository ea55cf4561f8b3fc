// The control plane's side of the data plane: sends it accounts, games and exits, and handles the events of the workers.
import type { Config } from '../../config.js';
import { isGuess } from '../../core/accounts/access/login.js';
import { type Account, isSuspended } from '../../core/accounts/account.js';
import { refused as refusedChange } from '../../core/accounts/accounts.js';
import { REPORTED_AS } from '../../core/accounts/usage/guard.js';
import type { AccountLimits } from '../../core/accounts/usage/limits.js';
import { formatHostPort } from '../../core/addresses/ip.js';
import { DAEMON } from '../../core/audit/audit.js';
import { readWay } from '../../core/exits/exit.js';
import type { ExitFigures } from '../../core/exits/exit-figures.js';
import type { Log } from '../../core/log.js';
import type { Session, SessionSummary } from '../../core/sessions/session.js';
import { iso } from '../../core/time/clock.js';
import { nodeTimers, type Timer } from '../../core/time/timers.js';
import type { GuardEvent } from '../../proxy/messages.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { ProxyObserver } from '../../proxy/plane/worker-handle.js';
import type { AccountRecord } from '../../proxy/plane-settings.js';
import type { PartDeps } from '../core.js';
import type { PenaltiesPart } from '../database/changes.js';
import type { SessionsPart } from '../database/sessions.js';
import type { EventsPart } from '../notices/events.js';
import type { NoticesPart } from '../notices/notices.js';
import type { OperatorSettings } from '../operator-settings.js';
import type { StatsPart } from '../stats.js';
import type { FirstLoginsPart } from './first-logins.js';
import type { PlanePart } from './plane.js';

/** How often bytes of sessions are counted, quotas checked and heartbeat entries recorded, in ms. */
const COUNT_MS = 1_000;

interface ProxyDeps
  extends PartDeps<keyof Config, 'store' | 'accounts' | 'directory' | 'exits' | 'usage' | 'sessions'> {
  readonly settings: Pick<OperatorSettings, 'gameRules'>;
  readonly stats: Pick<StatsPart, 'logins'>;
  readonly liveSessions: Pick<SessionsPart, 'permits'>;
  readonly notices: Pick<NoticesPart, 'guessed' | 'guarded'>;
  readonly events: Pick<EventsPart, 'firstLogin'>;
  readonly penalties: Pick<PenaltiesPart, 'of' | 'publish'>;
  readonly firstLogins: Pick<FirstLoginsPart, 'loggedIn'>;
  readonly exitFigures: ExitFigures;
  readonly players: Pick<PlanePart, 'plane' | 'observe'>;
}

/** Whether the sessions of an account are counted over all nodes. */
const isCounted = ({ maxSessions, maxClientAddresses }: AccountLimits): boolean =>
  maxSessions !== null || maxClientAddresses !== null;

/** Whether an account has a rate limit, which the nodes with its sessions share. */
const hasRate = ({ bytesPerSecondUp, bytesPerSecondDown }: AccountLimits): boolean =>
  bytesPerSecondUp !== null || bytesPerSecondDown !== null;

/** Sends the data plane what it needs, also before it starts. The part lets it report, and counts what sessions transfer. */
export function createProxyPart(deps: ProxyDeps) {
  const { log } = deps;
  const { directory, exits, usage, sessions } = deps.core;
  const { plane } = deps.players;
  const { gameRules } = deps.settings;
  const { permits } = deps.liveSessions;
  const { penalties } = deps;
  const recordOf = (account: Account): AccountRecord => ({
    id: account.id,
    username: account.username,
    passwordHash: account.passwordHash,
    passwordVersion: account.passwordVersion,
    link: account.link,
    limits: account.limits,
    exit: account.exit,
    owner: account.owner,
    quotaLeft: usage.quotaLeft(account),
    quotaCounted: 0,
    needsPermit: permits !== null && isCounted(account.limits),
    otherNodes: hasRate(account.limits) ? (sessions.elsewhere.of(account.id)?.nodes ?? 0) : 0,
    authorizedAddresses: account.authorizedAddresses,
    isEnabled: account.isEnabled,
    suspendedUntil: account.suspendedUntil,
    expiresAt: account.expiresAt,
    allowedClients: account.allowedClients,
    schedule: account.schedule,
  });
  function* records(): Generator<AccountRecord> {
    for (const account of directory.all()) yield recordOf(account);
  }
  deps.players.observe({ ...observe(deps), exits: observeExits(deps, plane) });
  plane.tell({ kind: 'games', games: gameRules.inForce().rules });
  plane.tell({ kind: 'exits', exits: exits.current() });
  plane.accounts.replace(records());
  directory.onChanged(({ id, after }) => {
    if (after) plane.accounts.put(recordOf(after));
    else plane.accounts.remove(id);
  });
  followQuotas(deps.core, plane);
  for (const kind of ['player', 'player-name'] as const)
    penalties
      .of(kind)
      .subscribe((subject, leftMs) =>
        plane.tell({ kind: 'penalties', penalties: [{ kind, subject, leftMs }] }),
      );
  gameRules.onChanged((games) => plane.tell({ kind: 'games', games }));
  exits.onChanged((changed) => plane.tell({ kind: 'exits', exits: changed }));
  const logEnd = (session: Session, summary: SessionSummary): void => logSession(log, session, summary);
  sessions.subscribe({ closed: logEnd, passed: logEnd });
  let counting: Timer | undefined;
  return {
    name: 'counts of sessions',
    start() {
      plane.report();
      counting = nodeTimers.every(COUNT_MS, () => sessions.tick());
    },
    stop: () => counting?.clear(),
  };
}

/**
 * Tells the workers what is left of quotas. They count down what they transfer, so they need to know only other changes: a new
 * period, and traffic on other nodes.
 */
function followQuotas({ directory, usage, sessions }: ProxyDeps['core'], plane: ProxyPlane): void {
  /** Accounts whose sessions have ended since the last count. */
  const ended = new Set<string>();
  const follow = (id: string): void => {
    const account = directory.byId(id);
    if (account && account.limits.quotaBytes !== null)
      plane.accounts.setQuotaLeft(id, usage.quotaLeft(account));
  };
  sessions.subscribe({
    opened: ({ accountId }) => follow(accountId),
    closed: ({ accountId }) => void ended.add(accountId),
    passed: ({ accountId }) => void ended.add(accountId),
    counted() {
      for (const id of new Set([...sessions.accounts(), ...ended])) follow(id);
      ended.clear();
    },
  });
}

function observe(options: ProxyDeps): Omit<ProxyObserver, 'sessions' | 'exits'> {
  const { config, stats, notices, events, penalties, firstLogins, log, core, liveSessions } = options;
  const { store, accounts, directory } = core;
  async function suspend({ accountId, limit, client }: GuardEvent): Promise<void> {
    const { after, forMs } = config.guard.suspend;
    const at = Date.now();
    const until = at + forMs;
    const change = { suspendedUntil: until, suspendReason: REPORTED_AS[limit] };
    const changed = await accounts.patch(
      accountId,
      (stored) => (isSuspended(stored, at) ? refusedChange('changed-meanwhile') : change),
      DAEMON,
    );
    if (!changed.ok) return;
    const { username } = changed.account;
    stats.logins.note('suspended', username, accountId, client);
    notices.guarded(username, limit, { slowed: 0, refused: 0 }, iso(until));
    const fields = { account: username, client, limit: `guard.${limit}`, refused: after, until: iso(until) };
    log.warn(fields, 'account suspended');
  }
  return {
    permits: liveSessions.permits,
    penalty: penalties.publish,
    guarded(event) {
      const { accountId, limit, slowed, refused, client } = event;
      const username = directory.byId(accountId)?.username;
      if (username === undefined) return;
      if (slowed > 0) stats.logins.note('slowed', username, accountId, client);
      if (refused > 0) stats.logins.note(REPORTED_AS[limit], username, accountId, client);
      notices.guarded(username, limit, { slowed, refused });
      const key = limit === 'bittorrent' ? 'egress.bittorrent' : `guard.${limit}`;
      log.warn({ account: username, client, limit: key, slowed, refused }, 'account limited');
      // After a failure, further refusals try again.
      if (event.suspends)
        suspend(event).catch((err: unknown) => log.error({ err, accountId }, 'account not suspended'));
    },
    logins({ outcome, username, accountId, client, count, at }) {
      if (outcome === 'success' && accountId !== null) {
        if (directory.byId(accountId)?.lastLoginAt === null) events.firstLogin(accountId, at);
        directory.loggedIn(accountId, at);
        firstLogins.loggedIn(accountId, at);
      }
      for (let i = 0; i < count; i += 1) {
        stats.logins.note(outcome, username, accountId, client);
        if (isGuess(outcome)) notices.guessed(client);
      }
    },
    rehashed(accountId, before, salted) {
      const account = directory.byId(accountId);
      if (account?.passwordHash !== before) return;
      directory.put({ ...account, passwordHash: salted });
      store.accounts.rehash(accountId, before, salted).catch((error: unknown) => {
        log.error({ err: error, accountId }, 'password hash upgrade failed');
      });
    },
  };
}

/** Logs each change, and tells it to every worker. */
function observeExits(
  { exitFigures, log }: ProxyDeps,
  plane: Pick<ProxyPlane, 'tell'>,
): ProxyObserver['exits'] {
  return {
    failed: (exit, count) => exitFigures.failed(exit, count),
    wayChanged(id, isUp, reason) {
      const wasUp = exitFigures.isUp(id);
      if (!exitFigures.setUp(id, isUp)) return;
      plane.tell({ kind: 'exit-ways', ways: exitFigures.ways });
      if (!isUp) log.warn({ ...readWay(id), reason }, 'exit does not answer');
      else if (wasUp === false) log.info(readWay(id), 'exit answers again');
    },
  };
}

function logSession(log: Log, session: Session, summary: SessionSummary): void {
  const { destination, outgoing, via, exit } = session;
  const { bytesUp, bytesDown, datagramsUp, datagramsDown, dropped, durationMs, end } = summary;
  // One shape for all sessions: the log leaves out what is undefined.
  log.info(
    {
      account: session.username,
      client: session.client.address,
      destination: formatHostPort(destination.host, destination.port),
      address: destination.address,
      outgoing: outgoing === null ? undefined : formatHostPort(outgoing.address, outgoing.port),
      via: via ?? undefined,
      exit: exit ?? undefined,
      protocol: session.protocol === 'udp' ? 'udp' : undefined,
      clientProtocol: session.clientProtocol === 'socks5' ? undefined : session.clientProtocol,
      bytesUp,
      bytesDown,
      datagramsUp,
      datagramsDown,
      dropped,
      connectMs: session.connectMs ?? undefined,
      durationMs,
      game: session.gameId,
      end,
      session: session.id,
    },
    'session ended',
  );
}
