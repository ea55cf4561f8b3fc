// The accounts that expire next: who has to pay.
import type { AccountFilterBody } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { AccountLink, Card, Expiry } from '../../ui/basics.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';

const EVERY_MS = 30_000;

/** The accounts that match, and the first of them by their expiry. */
export function useAccounts(filter: AccountFilterBody, limit = 1) {
  const query = { ...filter, sort: 'expiresAt', limit } as const;
  return useLoad('listAccounts', { query }, { topics: ['accounts'], everyMs: EVERY_MS });
}

export const useExpiring = (shown: number) => useAccounts({ expiringWithinDays: 7 }, shown);

export function Expiring({ of }: { of: ReturnType<typeof useExpiring> }) {
  return (
    <Card title={t('overview.expiring')}>
      <WhenLoaded of={of} rows={4} keeps>
        {({ items }) => (
          <SmallTable
            empty={t('overview.noneExpiring')}
            rows={items}
            id={({ id }) => id}
            columns={[
              [t('account.username'), ({ id, username }) => <AccountLink id={id} name={username} />],
              [t('plans.choose'), ({ plan }) => plan ?? ''],
              [t('account.expiresAt'), ({ expiresAt }) => <Expiry at={expiresAt} short />, 'end'],
            ]}
          />
        )}
      </WhenLoaded>
    </Card>
  );
}
