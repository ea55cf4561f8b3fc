// The columns of live sessions, for the page of sessions and for an account's page.
import type { ComponentChildren } from 'preact';
import type { LiveSession } from '../../api-types.js';
import { ApiError, call } from '../../lib/api.js';
import { clock, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { may } from '../../lib/rights.js';
import { href } from '../../lib/router.js';
import { Client, Traffic } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { type Column, column } from '../../ui/list/columns.js';
import { notify } from '../../ui/toast.js';

const PROTOCOL_NAMES: Readonly<Record<LiveSession['clientProtocol'], string>> = {
  socks5: 'SOCKS5',
  socks4: 'SOCKS4',
  http: 'HTTP',
};

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
function OnPhone({ session, children }: { session: LiveSession; children: ComponentChildren }) {
  const { gameId, destination } = session;
  return (
    <div class="two-lines">
      <span>
        {children}
        {gameId !== null && <span class="soft"> · {gameId}</span>}
      </span>
      <span class="soft">
        {destination.host}:{destination.port}
      </span>
    </div>
  );
}

/** Where it goes, from which of our addresses and ports, and through which upstream proxy. */
function destinationTitle({ destination, protocol, outgoing, exit, connectMs }: LiveSession): string {
  return [
    `${destination.host}:${destination.port}/${protocol}`,
    destination.address,
    outgoing && t('sessions.outgoing', { from: `${outgoing.address}:${outgoing.port}` }),
    exit && t('sessions.exit', { exit }),
    connectMs !== null && t('sessions.connectMs', { ms: connectMs }),
  ]
    .filter(Boolean)
    .join('\n');
}

const clientOf = ({ client, clientOrigin }: LiveSession) => (
  <Client address={client.address} origin={clientOrigin} />
);

export function sessionColumns(
  reload: () => void,
  show: { account: boolean; node: boolean },
): readonly Column<LiveSession>[] {
  const account: Column<LiveSession> = {
    key: 'username',
    head: t('account.username'),
    sort: 'username',
    cell: (one) => (
      <a class="strong" href={href(['accounts', one.accountId])}>
        {one.username}
      </a>
    ),
    phone: {
      cell: (one) => (
        <OnPhone session={one}>
          <a class="strong" href={href(['accounts', one.accountId])}>
            {one.username}
          </a>
        </OnPhone>
      ),
    },
  };
  const node: Column<LiveSession> = column('node', 'nodes.name', { width: '112px', from: 1100 }, (one) => (
    <span title={one.node}>{one.node}</span>
  ));
  const end: Column<LiveSession> = column(
    'end',
    '',
    { width: '72px', align: 'end', phone: { width: '64px' } },
    (one) => <EndButton session={one} reload={reload} />,
  );
  return [
    ...(show.account ? [account] : []),
    {
      key: 'destination',
      head: t('sessions.destination'),
      ...(show.account ? { sort: 'destination' } : {}),
      cell: (one) => (
        <span title={destinationTitle(one)}>
          {one.destination.host}
          <span class="faint">
            :{one.destination.port}/{one.protocol}
          </span>
        </span>
      ),
      ...(show.account ? {} : { phone: { cell: (one) => <OnPhone session={one}>{clientOf(one)}</OnPhone> } }),
    },
    {
      key: 'game',
      head: t('account.game'),
      ...(show.account ? { sort: 'gameId' } : {}),
      width: '100px',
      from: 800,
      cell: (one) => one.gameId ?? <span class="faint">—</span>,
    },
    {
      key: 'client',
      head: t('sessions.client'),
      ...(show.account ? { sort: 'client' } : {}),
      width: '152px',
      from: 900,
      cell: (one) => (
        <span title={`${one.client.address}:${one.client.port}\n${PROTOCOL_NAMES[one.clientProtocol]}`}>
          {clientOf(one)}
          {one.clientProtocol !== 'socks5' && (
            <span class="faint">/{PROTOCOL_NAMES[one.clientProtocol]}</span>
          )}
        </span>
      ),
    },
    ...(show.node ? [node] : []),
    {
      key: 'rate',
      head: t('sessions.rate'),
      ...(show.account ? { sort: 'bytesPerSecond', largestFirst: true } : {}),
      width: '184px',
      from: 700,
      align: 'end',
      cell: (one) => <Traffic up={one.bytesPerSecondUp} down={one.bytesPerSecondDown} perSecond />,
      phone: {
        width: '88px',
        cell: (one) => (
          <div class="two-lines end number">
            <span>↓ {rate(one.bytesPerSecondDown)}</span>
            <span class="soft">{clock(Date.now() - Date.parse(one.openedAt))}</span>
          </div>
        ),
      },
    },
    {
      key: 'bytes',
      head: t('sessions.bytes'),
      ...(show.account ? { sort: 'bytes', largestFirst: true } : {}),
      width: '184px',
      from: 1200,
      align: 'end',
      cell: (one) => <Traffic up={one.bytesUp} down={one.bytesDown} />,
    },
    {
      key: 'age',
      head: t('sessions.age'),
      ...(show.account ? { sort: 'openedAt' } : {}),
      width: '84px',
      from: 560,
      align: 'end',
      cell: (one) => <span class="number">{clock(Date.now() - Date.parse(one.openedAt))}</span>,
    },
    ...(may('endSession') ? [end] : []),
  ];
}
