// Logins and failed logins: user, address, and the reason of a failure.
import type { Login, LoginOutcome } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, usePlace } from '../../lib/router.js';
import { Ago, At, State, type Tone, useWidth } from '../../ui/basics.js';
import { ColumnChooser } from '../../ui/columns.js';
import { DayRange, dayRangeOf } from '../../ui/day-range.js';
import { Counts, FilterChip, Pager, SearchBox } from '../../ui/list.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

function loginTone(outcome: LoginOutcome): Tone {
  if (outcome === 'success') return 'good';
  return outcome === 'unknown-user' || outcome === 'wrong-password' || outcome === 'blocked-address'
    ? 'bad'
    : 'warn';
}

/** The text for a login without a user name: the client sent none, or a blocked address tried many names. */
function nameOf({ username, outcome }: Login): string {
  return username || (outcome === 'no-credentials' ? '—' : t('logins.manyNames'));
}

export function Outcome({ login }: { login: Login }) {
  return (
    <State tone={loginTone(login.outcome)}>
      {t(`login.outcome.${login.outcome}`)}
      {login.times > 1 && ` × ${login.times}`}
    </State>
  );
}

export function LoginList() {
  const { query } = usePlace();
  const account = query.get('account');
  const narrow = useWidth() < 640;
  const list = useLoad(
    'listLogins',
    {
      query: {
        search: query.get('search') ?? undefined,
        accountId: account ?? undefined,
        failed: query.has('failed') ? query.get('failed') === 'true' : undefined,
        ...dayRangeOf(query),
        cursor: query.get('cursor') ?? undefined,
        limit: 200,
      },
    },
    { topics: ['sessions'], everyMs: 10_000 },
  );
  const page = list.data;
  return (
    <>
      <div class="toolbar">
        <SearchBox placeholder={t('logins.search')} />
        <fieldset class="chips" aria-label={t('list.filters')}>
          <FilterChip name="failed" value="true">
            {t('logins.failed')}
          </FilterChip>
          <FilterChip name="failed" value="false">
            {t('login.outcome.success')}
          </FilterChip>
          {account !== null && (
            <FilterChip name="account" value={account}>
              {page?.items[0]?.username ?? t('logins.oneAccount')} ×
            </FilterChip>
          )}
        </fieldset>
        <DayRange off={t('list.days')} on={(range) => t('list.days.between', range)} />
        {page && <Counts matched={page.matched} total={page.total} />}
        {!narrow && <ColumnChooser table="logins" columns={columns()} />}
      </div>
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {!page && !list.error && <Skeleton rows={12} />}
      {page?.matched === 0 && (
        <Empty icon="sessions" title={t('logins.empty')}>
          {t('logins.empty.text')}
        </Empty>
      )}
      {page && page.matched > 0 && (
        <>
          <Table
            label={t('sessions.logins')}
            rows={page.items}
            columns={narrow ? narrowColumns() : columns()}
            table="logins"
            rowHeight={narrow ? 56 : 36}
            id={(one) => `${one.at} ${one.username} ${one.client} ${one.outcome}`}
            pending={list.pending}
          />
          <Pager nextCursor={page.nextCursor} shown={page.items.length} matched={page.matched} />
        </>
      )}
    </>
  );
}

function columns(): readonly Column<Login>[] {
  return [
    {
      key: 'outcome',
      head: t('logins.outcome'),
      width: '200px',
      cell: (one) => <Outcome login={one} />,
    },
    {
      key: 'username',
      head: t('account.username'),
      cell: (one) =>
        one.accountId === null ? (
          <span>{nameOf(one)}</span>
        ) : (
          <a class="strong" href={href(['accounts', one.accountId])}>
            {one.username}
          </a>
        ),
    },
    {
      key: 'client',
      head: t('sessions.client'),
      width: '200px',
      from: 700,
      cell: (one) => <code>{one.client}</code>,
    },
    { key: 'ago', head: '', width: '112px', align: 'end', cell: (one) => <Ago at={one.at} /> },
    {
      key: 'at',
      head: t('logins.at'),
      width: '176px',
      from: 900,
      align: 'end',
      cell: (one) => <At at={one.at} />,
    },
  ];
}

/** For narrow screens: two lines per row. */
function narrowColumns(): readonly Column<Login>[] {
  return [
    {
      key: 'username',
      head: t('account.username'),
      cell: (one) => (
        <div class="two-lines">
          {one.accountId === null ? (
            <span>{nameOf(one)}</span>
          ) : (
            <a class="strong" href={href(['accounts', one.accountId])}>
              {one.username}
            </a>
          )}
          <code class="soft">{one.client}</code>
        </div>
      ),
    },
    {
      key: 'outcome',
      head: t('logins.outcome'),
      width: '184px',
      align: 'end',
      cell: (one) => (
        <div class="two-lines end">
          <Outcome login={one} />
          <span class="soft">
            <Ago at={one.at} />
          </span>
        </div>
      ),
    },
  ];
}
