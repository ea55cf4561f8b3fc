// A seller's overview: its own accounts in tiles, its budget, who used most today, and who has to pay next.
import type { TrafficItem } from '../../api-types.js';
import { useUser } from '../../lib/api.js';
import { bytes, count, dayBefore } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { PageHead } from '../../ui/list/list.js';
import { WhenLoaded } from '../../ui/states.js';
import { OwnBudget } from '../accounts/fields/plans.js';
import {
  EVERY_MS,
  Expiring,
  type Tile,
  Tiles,
  TopAccounts,
  trafficOfDay,
  UsedToday,
  useAccounts,
  useExpiring,
} from './parts.js';

const SHOWN = 10;

/** @param firstDaysAgo the first day of the range, which ends today */
function useTraffic(firstDaysAgo: number) {
  const zone = useUser()?.timeZone ?? 'UTC';
  const [from, until] = [dayBefore(firstDaysAgo, zone), dayBefore(0, zone)];
  return useLoad('getTrafficReport', { query: { from, until, limit: SHOWN } }, { everyMs: EVERY_MS });
}

const usedBy = ({ key, label, bytesUp, bytesDown }: TrafficItem) => ({
  id: key ?? '',
  username: label ?? '',
  bytesUp,
  bytesDown,
});

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
        <TopAccounts>
          <WhenLoaded of={today} rows={4} keeps>
            {({ items }) => <UsedToday rows={items.map(usedBy)} />}
          </WhenLoaded>
        </TopAccounts>
        <Expiring of={expiring} />
      </div>
    </>
  );
}
