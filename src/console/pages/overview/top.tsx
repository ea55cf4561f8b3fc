// The accounts with the most traffic today, and the games in use.
import type { Overview } from '../../api-types.js';
import { count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { State, Traffic } from '../../ui/basics.js';

export function TopAccounts({ now }: { now: Overview }) {
  return (
    <section class="card">
      <h2>{t('overview.topAccounts')}</h2>
      {now.topAccounts.length === 0 ? (
        <p class="soft">{t('overview.noTraffic')}</p>
      ) : (
        <table class="small">
          <thead>
            <tr>
              <th scope="col">{t('account.username')}</th>
              <th scope="col">{t('account.state')}</th>
              <th scope="col" class="end">
                {t('account.today')}
              </th>
            </tr>
          </thead>
          <tbody>
            {now.topAccounts.map((one) => (
              <tr key={one.id}>
                <td>
                  <a href={href(['accounts', one.id])}>{one.username}</a>
                </td>
                <td>
                  {one.sessions > 0 ? (
                    <State tone="good">{t('overview.sessionCount', { n: one.sessions })}</State>
                  ) : (
                    <State tone="none">{t('account.state.offline')}</State>
                  )}
                </td>
                <td class="end">
                  <Traffic up={one.bytesUp} down={one.bytesDown} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

export function TopGames({ now }: { now: Overview }) {
  const most = Math.max(1, ...now.topGames.map((one) => one.heartbeats));
  return (
    <section class="card">
      <h2>{t('overview.topGames')}</h2>
      {now.topGames.length === 0 ? (
        <p class="soft">{t('overview.noGames')}</p>
      ) : (
        <table class="small">
          <thead>
            <tr>
              <th scope="col">{t('account.game')}</th>
              <th scope="col" class="end">
                {t('overview.players')}
              </th>
              <th scope="col" class="end">
                {t('account.dataCount')}
              </th>
              <th scope="col" class="share" aria-hidden="true" />
            </tr>
          </thead>
          <tbody>
            {now.topGames.map((one) => (
              <tr key={one.gameId}>
                <td>
                  <a href={href(['accounts'], { game: one.gameId })}>{one.gameId}</a>
                </td>
                <td class="end number">{count(one.accountsOnline)}</td>
                <td class="end number">{count(one.heartbeats)}</td>
                <td class="share" aria-hidden="true">
                  <span class="share-bar" style={{ width: `${(one.heartbeats / most) * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
