// The columns of live sessions, for the page of sessions and for an account's page.
import type { ComponentChildren } from 'preact';
import type { LiveSession } from '../../api-types.js';
import { ApiError, call, may } from '../../lib/api.js';
import { clock, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { AccountLink, Client, None, Traffic } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
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
const onPhone = (who: (session: LiveSession) => ComponentChildren) => (session: LiveSession) => {
  const { gameId, destination } = session;
  const game = gameId !== null && <span class="soft"> · {gameId}</span>;
  return <Lines of={[[who(session), game], `${destination.host}:${destination.port}`]} />;
};

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
  const account = (one: LiveSession) => <AccountLink id={one.accountId} name={one.username} />;
  const age = (one: LiveSession) => clock(Date.now() - Date.parse(one.openedAt));
  const all: readonly Column<LiveSession>[] = [
    column('username', 'account.username', { sort: 'username', phone: { cell: onPhone(account) } }, account),
    column(
      'destination',
      'sessions.destination',
      { sort: 'destination', ...(show.account ? {} : { phone: { cell: onPhone(clientOf) } }) },
      (one) => (
        <span title={destinationTitle(one)}>
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
      <span title={`${one.client.address}:${one.client.port}\n${PROTOCOL_NAMES[one.clientProtocol]}`}>
        {clientOf(one)}
        {one.clientProtocol !== 'socks5' && <span class="faint">/{PROTOCOL_NAMES[one.clientProtocol]}</span>}
      </span>
    )),
    column('node', 'nodes.name', { width: 112, from: 1100 }, (one) => (
      <span title={one.node}>{one.node}</span>
    )),
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
    column('bytes', 'sessions.bytes', { sort: '-bytes', width: 184, from: 1200, align: 'end' }, (one) => (
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
