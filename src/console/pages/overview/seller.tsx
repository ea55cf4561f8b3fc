// A seller's overview: its own accounts in tiles, its budget, who used most today, and who has to pay next.
import { useUser } from '../../lib/api.js';
import { dayBefore, trafficOfDay } from '../../lib/days.js';
import { bytes, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { AccountLink, Card, Traffic } from '../../ui/basics.js';
import { PageHead } from '../../ui/list/list.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';
import { OwnBudget } from '../accounts/fields/budget.js';
import { Expiring, useAccounts, useExpiring } from './expiring.js';
import { type Tile, Tiles } from './tiles.js';

const EVERY_MS = 30_000;
const SHOWN = 10;

/** @param firstDaysAgo the first day of the range, which ends today */
function useTraffic(firstDaysAgo: number) {
  const zone = useUser()?.timeZone ?? 'UTC';
  const [from, until] = [dayBefore(firstDaysAgo, zone), dayBefore(0, zone)];
  return useLoad('getTrafficReport', { query: { from, until, limit: SHOWN } }, { everyMs: EVERY_MS });
}

export function SellerOverview() {
  const timeZone = useUser()?.timeZone;
  const [active, online, expired] = [
    useAccounts({ enabled: true, expired: false }),
    useAccounts({ online: true }),
    useAccounts({ expired: true }),
  ];
  const expiring = useExpiring(SHOWN);
  const [today, month] = [useTraffic(0), useTraffic(29)];
  const matched = ({ data }: typeof active) => (data ? count(data.matched) : '…');
  const sum = ({ data }: typeof today) => (data ? bytes(data.sum.bytesUp + data.sum.bytesDown) : '…');
  const all = ['accounts'];
  const tiles: readonly Tile[] = [
    [
      'overview.active',
      [matched(active), href(all, { enabled: 'true', expired: 'false' })],
      [t('overview.ofAccounts', { n: active.data?.total ?? 0 }), href(all)],
    ],
    [
      'overview.players',
      [matched(online), href(all, { online: 'true' })],
      [t('nav.sessions'), href(['sessions'])],
    ],
    [
      'overview.expiring',
      [matched(expiring), href(all, { within: '7', sort: 'expiresAt' })],
      [
        t('overview.expired', { n: expired.data?.matched ?? 0 }),
        href(all, { expired: 'true', sort: '-expiresAt' }),
      ],
    ],
    [
      'account.today',
      [sum(today), trafficOfDay(0, timeZone)],
      [t('overview.inMonth', { what: sum(month) }), href(['traffic'])],
    ],
  ];
  return (
    <>
      <PageHead title={t('nav.overview')}></PageHead>
      <Tiles of={tiles} />
      <OwnBudget />
      <div class="columns">
        <Card
          title={t('overview.topAccounts')}
          actions={<a href={trafficOfDay(1, timeZone)}>{t('traffic.yesterday')}</a>}
        >
          <WhenLoaded of={today} rows={4} keeps>
            {({ items }) => (
              <SmallTable
                empty={t('overview.noTraffic')}
                rows={items}
                id={({ key }) => key ?? ''}
                columns={[
                  [
                    t('account.username'),
                    ({ key, label }) => <AccountLink id={key ?? ''} name={label ?? ''} />,
                  ],
                  [
                    t('account.today'),
                    ({ bytesUp, bytesDown }) => <Traffic up={bytesUp} down={bytesDown} />,
                    'end',
                  ],
                ]}
              />
            )}
          </WhenLoaded>
        </Card>
        <Expiring of={expiring} />
      </div>
    </>
  );
}
