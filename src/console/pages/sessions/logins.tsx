// Logins and failed logins: user, address, and the reason of a failure.
import type { Login, LoginOutcome } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { partsOf, usePlace } from '../../lib/router.js';
import { AccountLink, Ago, At, Client, State, type Tone } from '../../ui/basics.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
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
  const { accountId, username } = login;
  return accountId === null ? <span>{nameOf(login)}</span> : <AccountLink id={accountId} name={username} />;
}

const clientOf = (login: Login) => <Client address={login.client} origin={login.clientOrigin} />;

function columns(): readonly Column<Login>[] {
  const outcome: Column<Login>['phone'] = {
    width: 184,
    align: 'end',
    cell: (one) => <Lines end of={[<Outcome login={one} />, <Ago at={one.at} />]} />,
  };
  const name: Column<Login>['phone'] = {
    isFirst: true,
    cell: (one) => <Lines of={[<Name login={one} />, clientOf(one)]} />,
  };
  return [
    column('outcome', 'logins.outcome', { width: 200, phone: outcome }, (one) => <Outcome login={one} />),
    column('username', 'account.username', { phone: name }, (one) => <Name login={one} />),
    column('client', 'sessions.client', { width: 200, from: 700 }, clientOf),
    column('ago', '', { width: 112, align: 'end' }, (one) => <Ago at={one.at} />),
    column('at', 'logins.at', { width: 176, from: 900, align: 'end' }, (one) => <At at={one.at} />),
  ];
}
