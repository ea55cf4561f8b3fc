// The columns of the list of accounts, and an account's state in one word.
import type { Account } from '../api-types.js';
import { count, percent } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { Ago, Expiry, Meter, State, Tag, type Tone, Traffic } from '../ui/basics.js';
import type { Column } from '../ui/table.js';
import { expiryOf } from './plans.js';

/** Returns the state of an account in one word, with its tone. */
export function accountState(account: Account): { tone: Tone; text: string } {
  const { limits, usage } = account;
  if (!account.isEnabled) return { tone: 'none', text: t('account.state.disabled') };
  if (account.isExpired) return { tone: 'bad', text: t('account.state.expired') };
  if (limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes) {
    return { tone: 'bad', text: t('account.state.overQuota') };
  }
  if (usage.sessions > 0) return { tone: 'good', text: t('account.state.online') };
  return {
    tone: 'none',
    text: account.lastLoginAt === null ? t('account.state.unused') : t('account.state.offline'),
  };
}

function AccountState({ account }: { account: Account }) {
  const { tone, text } = accountState(account);
  return <State tone={tone}>{text}</State>;
}

/** Shows when the account expires, or that it waits for its first login. */
function AccountExpiry({ account, short = false }: { account: Account; short?: boolean }) {
  if (account.daysFromFirstLogin === null) return <Expiry at={account.expiresAt} short={short} />;
  return <span title={expiryOf(account)}>{expiryOf(account, short)}</span>;
}

function Quota({ account }: { account: Account }) {
  const { limits, usage } = account;
  if (limits.quotaBytes === null) return <span class="faint">—</span>;
  return (
    <span class="quota number">
      <Meter value={usage.periodBytes} max={limits.quotaBytes} label={t('account.quota')} />
      {percent(usage.periodBytes, limits.quotaBytes)}
    </span>
  );
}

export function accountColumns(): readonly Column<Account>[] {
  return [
    {
      key: 'username',
      head: t('account.username'),
      sort: 'username',
      cell: (one) => (
        <a class="strong" href={href(['accounts', one.id])} tabIndex={-1}>
          {one.username}
        </a>
      ),
    },
    {
      key: 'state',
      head: t('account.state'),
      sort: 'sessions',
      width: '116px',
      cell: (one) => <AccountState account={one} />,
    },
    {
      key: 'expires',
      head: t('account.expiresAt'),
      sort: 'expiresAt',
      width: '112px',
      cell: (one) => <AccountExpiry account={one} short />,
    },
    {
      key: 'sessions',
      head: t('account.sessions'),
      width: '72px',
      from: 1100,
      align: 'end',
      cell: (one) => (
        <span class="number">
          {one.usage.sessions}
          <span class="faint"> / {one.limits.maxSessions ?? '∞'}</span>
        </span>
      ),
    },
    {
      key: 'today',
      head: t('account.today'),
      sort: 'todayBytes',
      width: '184px',
      from: 800,
      align: 'end',
      cell: (one) => <Traffic up={one.todayBytesUp} down={one.todayBytesDown} />,
    },
    {
      key: 'quota',
      head: t('account.quota'),
      sort: 'periodBytes',
      width: '128px',
      from: 960,
      cell: (one) => <Quota account={one} />,
    },
    {
      key: 'login',
      head: t('account.lastLoginAt'),
      sort: 'lastLoginAt',
      width: '104px',
      from: 720,
      cell: (one) => <Ago at={one.lastLoginAt} />,
    },
    {
      key: 'data',
      head: t('account.dataCount'),
      sort: 'dataCount',
      width: '84px',
      from: 1300,
      align: 'end',
      cell: (one) => (
        <span class="number">
          {one.dataCount === 0 ? <span class="faint">—</span> : count(one.dataCount)}
        </span>
      ),
    },
    {
      key: 'game',
      head: t('account.game'),
      sort: 'latestGameId',
      width: '104px',
      from: 1200,
      cell: (one) => one.latestGameId ?? <span class="faint">—</span>,
    },
    {
      key: 'plan',
      head: t('plans.choose'),
      width: '104px',
      from: 1280,
      cell: (one) => one.plan ?? <span class="faint">—</span>,
    },
    {
      key: 'tags',
      head: t('tags.title'),
      width: '136px',
      from: 1250,
      cell: (one) =>
        one.tags.length === 0 ? (
          <span class="faint">—</span>
        ) : (
          <span class="tags" title={one.tags.join(', ')}>
            {one.tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </span>
        ),
    },
    {
      key: 'remarks',
      head: t('account.remarks'),
      from: 700,
      cell: (one) => <span class="soft">{one.remarks}</span>,
    },
  ];
}

/** For narrow screens: two lines per row. */
export function narrowAccountColumns(): readonly Column<Account>[] {
  return [
    {
      key: 'username',
      head: t('account.username'),
      sort: 'username',
      cell: (one) => (
        <div class="two-lines">
          <a class="strong" href={href(['accounts', one.id])} tabIndex={-1}>
            {one.username}
          </a>
          <span class="soft">
            <AccountExpiry account={one} />
            {one.latestGameId && ` · ${one.latestGameId}`}
            {one.tags.length > 0 && ` · ${one.tags.join(', ')}`}
          </span>
        </div>
      ),
    },
    {
      key: 'state',
      head: t('account.state'),
      sort: 'sessions',
      width: '128px',
      align: 'end',
      cell: (one) => (
        <div class="two-lines end">
          <AccountState account={one} />
          <span class="soft">
            <Ago at={one.lastLoginAt} />
          </span>
        </div>
      ),
    },
  ];
}
