// The columns of live sessions, for the page of sessions and for an account's page; and the list of logins and failed logins: user,
// address, and the reason of a failure.
import type { ComponentChildren } from 'preact';
import type { HeartbeatEntry, LiveSession, Login, LoginOutcome } from '../../api-types.js';
import { ApiError, call, may } from '../../lib/api.js';
import { clock, hostPort, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { partsOf, usePlace } from '../../lib/router.js';
import { AccountLink, Ago, At, Client, None, State, type Tone, Traffic } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { DayRange, dayRangeOf } from '../../ui/expiry-field.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { FilterChip, List, SetFilter } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

async function endOne(session: LiveSession): Promise<void> {
  try {
    await call('endSession', { params: { id: session.id } });
  } catch (error) {
    // The session has already ended, which is the requested result.
    if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
  }
  notify(t('sessions.ended', { n: 1 }));
}

/** Returns whether the sessions are on more than one node. A single node needs no column. */
export const areAtSeveralNodes = (sessions: readonly LiveSession[]): boolean =>
  sessions.some(({ node }) => node !== sessions[0]?.node);

function EndButton({ session, reload }: { session: LiveSession; reload: () => void }) {
  return (
    <AskButton
      kind="quiet"
      text={t('sessions.end')}
      title={t('sessions.endTitle', { n: 1 })}
      danger
      act={() => endOne(session).finally(reload)}
    >
      <p>
        {session.username} → {session.destination.host}:{session.destination.port}
      </p>
      <p class="soft">{t('sessions.endText')}</p>
    </AskButton>
  );
}

/** On a phone, the destination stands below the account or the client. */
const onPhone = (who: (session: LiveSession) => ComponentChildren) => (session: LiveSession) => {
  const { gameId, destination } = session;
  const game = gameId !== null && <span class="soft"> · {gameId}</span>;
  return <Lines of={[[who(session), game], `${destination.host}:${destination.port}`]} />;
};

/** What is known of the way to a destination. */
type Way = Pick<HeartbeatEntry, 'address' | 'outgoing' | 'exit' | 'node' | 'connectMs'>;

const endOf = ({ address, port }: NonNullable<Way['outgoing']>): string =>
  hostPort({ host: address ?? '*', port });

/** Where it goes, from which of our addresses and ports, and by which exit. */
function wayTitle(destination: string, { address, outgoing, exit, node, connectMs }: Way): string {
  return [
    destination,
    address,
    outgoing && t('sessions.outgoing', { from: endOf(outgoing) }),
    exit && t('sessions.exit', { exit }),
    node && t('sessions.node', { node }),
    connectMs !== null && t('sessions.connectMs', { ms: connectMs }),
  ]
    .filter(Boolean)
    .join('\n');
}

/** The destination `to`, and below it its address, where `to` is a name, and our end. @param link of the destination */
export function WayCell({ to, way, link }: { to: string; way: Way; link?: string | undefined }) {
  const { address, outgoing, exit } = way;
  const from = outgoing ? endOf(outgoing) : exit;
  const below = [address !== null && !to.includes(address) && address, from && `← ${from}`];
  return (
    <span title={wayTitle(to, way)}>
      <Lines of={[link ? <a href={link}>{to}</a> : to, below.filter(Boolean).join(' ')]} />
    </span>
  );
}

const clientOf = ({ client, clientOrigin }: LiveSession) => (
  <Client of={{ client: client.address, clientOrigin }} />
);

export function sessionColumns(
  reload: () => void,
  show: { account: boolean; node: boolean },
): readonly Column<LiveSession>[] {
  const account = (one: LiveSession) => <AccountLink id={one.accountId} name={one.username} />;
  const age = (one: LiveSession) => clock(Date.now() - Date.parse(one.openedAt));
  const all: readonly Column<LiveSession>[] = [
    column('username', 'account.username', { sort: 'username', phone: { cell: onPhone(account) } }, account),
    column(
      'destination',
      'sessions.destination',
      { sort: 'destination', ...(show.account ? {} : { phone: { cell: onPhone(clientOf) } }) },
      (one) => (
        <span
          title={wayTitle(`${hostPort(one.destination)}/${one.protocol}`, { ...one, ...one.destination })}
        >
          {one.destination.host}
          <span class="faint">
            :{one.destination.port}/{one.protocol}
          </span>
        </span>
      ),
    ),
    column(
      'game',
      'account.game',
      { sort: 'gameId', width: 100, from: 800 },
      ({ gameId }) => gameId ?? <None />,
    ),
    column('client', 'sessions.client', { sort: 'client', width: 152, from: 900 }, (one) => (
      <span title={`${one.client.address}:${one.client.port}\n${one.clientProtocol.toUpperCase()}`}>
        {clientOf(one)}
        {one.clientProtocol !== 'socks5' && <span class="faint">/{one.clientProtocol.toUpperCase()}</span>}
      </span>
    )),
    column('node', 'nodes.name', { width: 112, from: 1100 }, ({ node }) => node),
    column(
      'rate',
      'sessions.rate',
      {
        sort: '-bytesPerSecond',
        width: 184,
        from: 700,
        align: 'end',
        phone: {
          width: 88,
          cell: (one) => <Lines end of={[`↓ ${rate(one.bytesPerSecondDown)}`, age(one)]} />,
        },
      },
      (one) => <Traffic up={one.bytesPerSecondUp} down={one.bytesPerSecondDown} perSecond />,
    ),
    column('bytes', 'nav.traffic', { sort: '-bytes', width: 184, from: 1200, align: 'end' }, (one) => (
      <Traffic up={one.bytesUp} down={one.bytesDown} />
    )),
    column('age', 'sessions.age', { sort: 'openedAt', width: 84, from: 560, align: 'end' }, age),
    column('end', '', { width: 72, align: 'end', phone: { width: 64 } }, (one) => (
      <EndButton session={one} reload={reload} />
    )),
  ];
  const isShown = { username: show.account, node: show.node, end: may('endSession') };
  const shown = all.filter(({ key }) => isShown[key as keyof typeof isShown] !== false);
  // Only the page of sessions sorts them.
  return show.account ? shown : shown.map(({ sort: _, ...column }) => column);
}

function loginTone(outcome: LoginOutcome): Tone {
  if (outcome === 'success') return 'good';
  return outcome === 'unknown-user' || outcome === 'wrong-password' || outcome === 'blocked-address'
    ? 'bad'
    : 'warn';
}

/** The text for a login without a user name: the client sent none, or a blocked address tried many names. */
function nameOf({ username, outcome }: Login): string {
  return username || (outcome === 'no-credentials' ? '—' : t('logins.manyNames'));
}

export function Outcome({ login }: { login: Login }) {
  return (
    <State tone={loginTone(login.outcome)}>
      {t(`login.outcome.${login.outcome}`)}
      {login.times > 1 && ` × ${login.times}`}
    </State>
  );
}

export function LoginList() {
  const { query } = usePlace();
  const { account: accountId, ...parts } = partsOf(query, 'search', 'cursor', 'account');
  const failed = query.has('failed') ? query.get('failed') === 'true' : undefined;
  const asked = { ...parts, accountId, failed, ...dayRangeOf(query), limit: 200 };
  const list = useLoad('listLogins', { query: asked }, { topics: ['sessions'], everyMs: 10_000 });
  return (
    <List
      list={list}
      search={t('logins.search')}
      chips={
        <>
          <FilterChip name="failed" value="true">
            {t('logins.failed')}
          </FilterChip>
          <FilterChip name="failed" value="false">
            {t('login.outcome.success')}
          </FilterChip>
          <SetFilter name="account" text={list.data?.items[0]?.username ?? t('logins.oneAccount')} />
        </>
      }
      tools={<DayRange />}
      empty={<Empty icon="sessions" title={t('logins.empty')} text={t('logins.empty.text')} />}
      table={{
        label: t('sessions.logins'),
        columns: columns(),
        table: 'logins',
        id: (one) => `${one.at} ${one.username} ${one.client} ${one.outcome}`,
      }}
    />
  );
}

function Name({ login }: { login: Login }) {
  const { accountId, username } = login;
  return accountId === null ? <span>{nameOf(login)}</span> : <AccountLink id={accountId} name={username} />;
}

const sourceOf = (login: Login) => <Client of={login} />;

function columns(): readonly Column<Login>[] {
  const outcome: Column<Login>['phone'] = {
    width: 184,
    align: 'end',
    cell: (one) => <Lines end of={[<Outcome login={one} />, <Ago at={one.at} />]} />,
  };
  const name: Column<Login>['phone'] = {
    isFirst: true,
    cell: (one) => <Lines of={[<Name login={one} />, sourceOf(one)]} />,
  };
  return [
    column('outcome', 'logins.outcome', { width: 200, phone: outcome }, (one) => <Outcome login={one} />),
    column('username', 'account.username', { phone: name }, (one) => <Name login={one} />),
    column('client', 'sessions.client', { width: 200, from: 700 }, sourceOf),
    column('ago', '', { width: 112, align: 'end' }, (one) => <Ago at={one.at} />),
    column('at', 'logins.at', { width: 176, from: 900, align: 'end' }, (one) => <At at={one.at} />),
  ];
}
