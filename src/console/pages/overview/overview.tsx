// The overview: current use, its history, and problems that need attention.
import { me } from '../../lib/api.js';
import { useCell } from '../../lib/cell.js';
import { t } from '../../lib/i18n.js';
import { liveOverview } from '../../lib/live.js';
import { useLoad } from '../../lib/load.js';
import { href, usePlace } from '../../lib/router.js';
import { CopyButton } from '../../ui/basics.js';
import { Permitted } from '../../ui/permitted.js';
import { RangeChoice, rangeOf } from '../../ui/range.js';
import { Empty, Failure } from '../../ui/states.js';
import { hostPort, LinkNotice } from '../settings/public-address.js';
import { Charts } from './charts.js';
import { Tiles } from './tiles.js';
import { TopAccounts, TopGames } from './top.js';

const HISTORY_EVERY_MS = 60_000;

export function OverviewPage() {
  const first = useLoad('getOverview', {});
  const live = useCell(liveOverview);
  const who = useCell(me);
  const { query } = usePlace();
  const range = rangeOf(query.get('range'), 'hour');
  const history = useLoad('getOverviewHistory', { query: { range } }, { everyMs: HISTORY_EVERY_MS });
  const now = live ?? first.data;
  if (!now && first.error) return <Failure error={first.error} retry={first.reload} />;
  return (
    <>
      <header class="page-head">
        <h1>{t('nav.overview')}</h1>
        <RangeChoice value={range} />
      </header>
      {(now?.accounts.total ?? who?.accounts) === 0 && <FirstSteps />}
      {now ? (
        <Tiles now={now} />
      ) : (
        <div class="tiles waiting" role="status" aria-label={t('state.loading')} />
      )}
      {history.error && !history.data ? (
        <Failure error={history.error} retry={history.reload} />
      ) : (
        <Charts history={history.data} />
      )}
      {now && (
        <div class="columns">
          <TopAccounts now={now} />
          <TopGames now={now} />
        </div>
      )}
    </>
  );
}

/** The first steps on a daemon without accounts. */
function FirstSteps() {
  const who = useCell(me);
  const address = who ? hostPort(who.link) : '127.0.0.1:1080';
  const command = `curl -x socks5h://player:secret@${address} https://example.com/`;
  return (
    <Empty
      icon="accounts"
      title={t('first.title')}
      action={
        <>
          <Permitted to="createAccount">
            <a class="button primary" href={href(['accounts'], { new: 'one' })}>
              {t('accounts.new')}
            </a>
          </Permitted>
          <Permitted to="importAccounts">
            <a class="button" href={href(['accounts'], { new: 'import' })}>
              {t('accounts.import')}
            </a>
          </Permitted>
        </>
      }
    >
      <ol class="steps stack near">
        <li>{t('first.create')}</li>
        <li>
          {t('first.connect')}
          <div class="row">
            <code>{command}</code>
            <CopyButton text={command} />
          </div>
          <LinkNotice />
        </li>
        <li>{t('first.watch')}</li>
      </ol>
    </Empty>
  );
}
