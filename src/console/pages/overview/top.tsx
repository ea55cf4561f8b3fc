// The accounts with the most traffic today, and the games in use.
import type { Overview } from '../../api-types.js';
import { count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { Card, State, Traffic } from '../../ui/basics.js';
import { SmallTable } from '../../ui/small-table.js';

export function TopAccounts({ now }: { now: Overview }) {
  return (
    <Card title={t('overview.topAccounts')}>
      <SmallTable
        empty={t('overview.noTraffic')}
        rows={now.topAccounts}
        id={({ id }) => id}
        columns={[
          {
            head: t('account.username'),
            cell: ({ id, username }) => <a href={href(['accounts', id])}>{username}</a>,
          },
          {
            head: t('account.state'),
            cell: ({ sessions }) =>
              sessions > 0 ? (
                <State tone="good">{t('overview.sessionCount', { n: sessions })}</State>
              ) : (
                <State tone="none">{t('account.state.offline')}</State>
              ),
          },
          {
            head: t('account.today'),
            look: 'end',
            cell: ({ bytesUp, bytesDown }) => <Traffic up={bytesUp} down={bytesDown} />,
          },
        ]}
      />
    </Card>
  );
}

export function TopGames({ now }: { now: Overview }) {
  const most = Math.max(1, ...now.topGames.map((one) => one.heartbeats));
  return (
    <Card title={t('overview.topGames')}>
      <SmallTable
        empty={t('overview.noGames')}
        rows={now.topGames}
        id={({ gameId }) => gameId}
        columns={[
          {
            head: t('account.game'),
            cell: ({ gameId }) => <a href={href(['accounts'], { game: gameId })}>{gameId}</a>,
          },
          {
            head: t('overview.players'),
            look: 'end',
            cellLook: 'number',
            cell: ({ accountsOnline }) => count(accountsOnline),
          },
          {
            head: t('nav.heartbeats'),
            look: 'end',
            cellLook: 'number',
            cell: ({ heartbeats }) => count(heartbeats),
          },
          {
            head: '',
            look: 'share',
            isPicture: true,
            cell: ({ heartbeats }) => (
              <span class="share-bar" style={{ width: `${(heartbeats / most) * 100}%` }} />
            ),
          },
        ]}
      />
    </Card>
  );
}
