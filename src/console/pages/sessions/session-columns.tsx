// The columns of live sessions, for the page of sessions and for an account's page.
import { useState } from 'preact/hooks';
import type { LiveSession } from '../../api-types.js';
import { ApiError, call } from '../../lib/api.js';
import { clock, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { may } from '../../lib/rights.js';
import { href } from '../../lib/router.js';
import { Button, Traffic } from '../../ui/basics.js';
import { Confirm } from '../../ui/dialog.js';
import type { Column } from '../../ui/table.js';
import { notify } from '../../ui/toast.js';

const PROTOCOL_NAMES: Readonly<Record<LiveSession['clientProtocol'], string>> = {
  socks5: 'SOCKS5',
  socks4: 'SOCKS4',
  http: 'HTTP',
};

async function end(session: LiveSession): Promise<void> {
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

/** For narrow screens: two lines per row. @param account false: the page is that of the account */
export function narrowSessionColumns(reload: () => void, account = true): readonly Column<LiveSession>[] {
  return [
    {
      key: account ? 'username' : 'destination',
      head: t(account ? 'account.username' : 'sessions.destination'),
      ...(account ? { sort: 'username' } : {}),
      cell: (one) => (
        <div class="two-lines">
          <span>
            {account ? (
              <a class="strong" href={href(['accounts', one.accountId])}>
                {one.username}
              </a>
            ) : (
              one.client.address
            )}
            {one.gameId !== null && <span class="soft"> · {one.gameId}</span>}
          </span>
          <span class="soft">
            {one.destination.host}:{one.destination.port}
          </span>
        </div>
      ),
    },
    {
      key: 'rate',
      head: t('sessions.rate'),
      ...(account ? { sort: 'bytesPerSecond', largestFirst: true } : {}),
      width: '88px',
      align: 'end',
      cell: (one) => (
        <div class="two-lines end number">
          <span>↓ {rate(one.bytesPerSecondDown)}</span>
          <span class="soft">{clock(Date.now() - Date.parse(one.openedAt))}</span>
        </div>
      ),
    },
    ...endColumn(reload, '64px'),
  ];
}

function endColumn(reload: () => void, width: string): readonly Column<LiveSession>[] {
  if (!may('endSession')) return [];
  const cell = (one: LiveSession) => <EndButton session={one} reload={reload} />;
  return [{ key: 'end', head: '', width, align: 'end', cell }];
}

function EndButton({ session, reload }: { session: LiveSession; reload: () => void }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        {t('sessions.end')}
      </Button>
      {asking && (
        <Confirm
          title={t('sessions.endTitle', { n: 1 })}
          action={t('sessions.end')}
          danger
          onClose={() => setAsking(false)}
          act={() => end(session).finally(reload)}
        >
          <p>
            {session.username} → {session.destination.host}:{session.destination.port}
          </p>
          <p class="soft">{t('sessions.endText')}</p>
        </Confirm>
      )}
    </>
  );
}

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
  };
  const node: Column<LiveSession> = {
    key: 'node',
    head: t('nodes.name'),
    width: '112px',
    from: 1100,
    cell: (one) => <span title={one.node}>{one.node}</span>,
  };
  return [
    ...(show.account ? [account] : []),
    {
      key: 'destination',
      head: t('sessions.destination'),
      ...(show.account ? { sort: 'destination' } : {}),
      cell: (one) => (
        <span
          title={`${one.destination.host}:${one.destination.port}/${one.protocol}\n${one.destination.address}`}
        >
          {one.destination.host}
          <span class="faint">
            :{one.destination.port}/{one.protocol}
          </span>
        </span>
      ),
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
      width: '136px',
      from: 900,
      cell: (one) => (
        <span
          class="number"
          title={`${one.client.address}:${one.client.port}\n${PROTOCOL_NAMES[one.clientProtocol]}`}
        >
          {one.client.address}
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
    ...endColumn(reload, '72px'),
  ];
}
