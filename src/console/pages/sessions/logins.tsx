// Logins and failed logins: user, address, and the reason of a failure.
import type { Login, LoginOutcome } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, At, Client, State, type Tone } from '../../ui/basics.js';
import { type Column, column } from '../../ui/list/columns.js';
import { DayRange, dayRangeOf } from '../../ui/list/day-range.js';
import { FilterChip, List, SetFilter } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';

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
  const list = useLoad(
    'listLogins',
    {
      query: {
        ...partsOf(query, 'search', 'cursor'),
        accountId: query.get('account') ?? undefined,
        failed: query.has('failed') ? query.get('failed') === 'true' : undefined,
        ...dayRangeOf(query),
        limit: 200,
      },
    },
    { topics: ['sessions'], everyMs: 10_000 },
  );
  return (
    <List
      list={list}
      search={t('logins.search')}
      chips={
        <>
          <FilterChip name="failed" value="true">
            {t('logins.failed')}
          </FilterChip>
          <FilterChip name="failed" value="false">
            {t('login.outcome.success')}
          </FilterChip>
          <SetFilter name="account" text={list.data?.items[0]?.username ?? t('logins.oneAccount')} />
        </>
      }
      tools={<DayRange off={t('list.days')} on={(range) => t('list.days.between', range)} />}
      skeleton={12}
      empty={<Empty icon="sessions" title={t('logins.empty')} text={t('logins.empty.text')} />}
      table={{
        label: t('sessions.logins'),
        columns: columns(),
        table: 'logins',
        id: (one) => `${one.at} ${one.username} ${one.client} ${one.outcome}`,
      }}
    />
  );
}

function Name({ login }: { login: Login }) {
  if (login.accountId === null) return <span>{nameOf(login)}</span>;
  return (
    <a class="strong" href={href(['accounts', login.accountId])}>
      {login.username}
    </a>
  );
}

function columns(): readonly Column<Login>[] {
  return [
    {
      key: 'outcome',
      head: t('logins.outcome'),
      width: '200px',
      cell: (one) => <Outcome login={one} />,
      phone: {
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
    },
    {
      key: 'username',
      head: t('account.username'),
      cell: (one) => <Name login={one} />,
      phone: {
        isFirst: true,
        cell: (one) => (
          <div class="two-lines">
            <Name login={one} />
            <span class="soft">
              <Client address={one.client} origin={one.clientOrigin} />
            </span>
          </div>
        ),
      },
    },
    column('client', 'sessions.client', { width: '200px', from: 700 }, (one) => (
      <Client address={one.client} origin={one.clientOrigin} />
    )),
    column('ago', '', { width: '112px', align: 'end' }, (one) => <Ago at={one.at} />),
    column('at', 'logins.at', { width: '176px', from: 900, align: 'end' }, (one) => <At at={one.at} />),
  ];
}
