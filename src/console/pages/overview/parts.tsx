// The parts of both overviews. Tiles: a value each, and below it what it is made of, with a link to the list of each. Lists: who used
// most today, and who has to pay next.
import type { ComponentChildren } from 'preact';
import type { AccountFilterBody, Overview } from '../../api-types.js';
import { useUser } from '../../lib/api.js';
import { dayBefore } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { AccountLink, Card, Expiry, State, Traffic } from '../../ui/basics.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';

type Linked = readonly [text: string, link?: string];
export type Tile = readonly [label: TextKey, value: Linked, below: Linked];

const linked = ([text, link]: Linked) => (link ? <a href={link}>{text}</a> : text);

export function Tiles({ of }: { of: readonly Tile[] }) {
  return (
    <dl class={of.length === 4 ? 'tiles four' : 'tiles'}>
      {of.map(([label, value, below]) => (
        <div key={label} class="tile">
          <dt>{t(label)}</dt>
          <dd class="big number">{linked(value)}</dd>
          <dd class="soft number">{linked(below)}</dd>
        </div>
      ))}
    </dl>
  );
}

export const EVERY_MS = 30_000;

/** The address of the report of one day. @param daysAgo 1: yesterday */
export function trafficOfDay(daysAgo: number, timeZone = 'UTC'): string {
  const day = dayBefore(daysAgo, timeZone);
  return href(['traffic'], { from: day, until: day });
}

/** Who used most today, and the way to who used too much yesterday. */
export function TopAccounts({ children }: { children: ComponentChildren }) {
  const yesterday = trafficOfDay(1, useUser()?.timeZone);
  return (
    <Card title={t('overview.topAccounts')} actions={<a href={yesterday}>{t('traffic.yesterday')}</a>}>
      {children}
    </Card>
  );
}

interface Used extends Omit<Overview['topAccounts'][number], 'sessions'> {
  /** Left out: not known. */
  readonly sessions?: number;
}

/** @param rows undefined: not read yet */
export function UsedToday({ rows }: { rows: readonly Used[] | undefined }) {
  const state = ({ sessions: n = 0 }: Used) => (
    <State tone={n > 0 ? 'good' : 'none'}>
      {n > 0 ? t('overview.sessionCount', { n }) : t('account.state.offline')}
    </State>
  );
  const hasStates = rows?.every(({ sessions }) => sessions === undefined) !== true;
  return (
    <SmallTable
      {...(rows ? { empty: t('overview.noTraffic') } : {})}
      rows={rows ?? []}
      id={({ id }) => id}
      columns={[
        [t('account.username'), ({ id, username }) => <AccountLink id={id} name={username} />],
        ...(hasStates ? [[t('account.state'), state] as const] : []),
        [t('account.today'), ({ bytesUp, bytesDown }) => <Traffic up={bytesUp} down={bytesDown} />, 'end'],
      ]}
    />
  );
}

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
