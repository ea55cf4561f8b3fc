// All accounts: one dense table that answers everything, and bulk work on what is selected.
import { useEffect, useState } from 'preact/hooks';
import type { Account, AccountSort } from '../api-types.js';
import { count, percent } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { go, href, patchQuery, usePlace } from '../lib/router.js';
import { Ago, Button, Expiry, Meter, State, type Tone, Traffic, useWidth } from '../ui/basics.js';
import { ColumnChooser } from '../ui/columns.js';
import { Counts, Pager, SearchBox } from '../ui/list.js';
import { Empty, Failure, Skeleton } from '../ui/states.js';
import { type Column, Table } from '../ui/table.js';
import { AccountDialogs } from './account-dialogs.js';
import { AccountFilters, ExpiryFilter, filterOf } from './account-filters.js';
import { BulkBar } from './bulk.js';

const PAGE_SIZES = ['100', '500', '1000'];

export function AccountsPage() {
  const { query } = usePlace();
  const width = useWidth();
  const filter = filterOf(query);
  const sort = (query.get('sort') ?? 'username') as AccountSort;
  const limit = Number(query.get('limit') ?? 100);
  const list = useLoad(
    'listAccounts',
    { query: { ...filter, sort, limit, cursor: query.get('cursor') ?? undefined } },
    { topics: ['accounts'], everyMs: 15_000 },
  );
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [allMatching, setAllMatching] = useState(false);
  const question = JSON.stringify(filter);
  // A selection belongs to what was asked: another search starts anew.
  // `question` is what it depends on.
  useEffect(() => {
    setIds(new Set());
    setAllMatching(false);
  }, [question]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('dialog[open]')) setIds(new Set());
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const page = list.data;
  const narrow = width < 640;
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '');
  return (
    <>
      <header class="page-head">
        <div class="title">
          <h1>{t('nav.accounts')}</h1>
          {page && <Counts matched={page.matched} total={page.total} />}
        </div>
        <span class="grow" />
        <Button
          icon="upload"
          onClick={() => patchQuery({ new: 'import' }, 'push')}
          {...(narrow ? { label: t('accounts.import') } : {})}
        >
          {narrow ? null : t('accounts.import')}
        </Button>
        <Button
          icon="download"
          onClick={() => patchQuery({ new: 'export' }, 'push')}
          {...(narrow ? { label: t('accounts.export') } : {})}
        >
          {narrow ? null : t('accounts.export')}
        </Button>
        <Button icon="plus" kind="primary" onClick={() => patchQuery({ new: 'one' }, 'push')}>
          {t(narrow ? 'accounts.newShort' : 'accounts.new')}
        </Button>
      </header>
      <div class="toolbar">
        <SearchBox placeholder={t('accounts.search')} />
        <AccountFilters game={filter.game} />
        <ExpiryFilter />
        {!narrow && <ColumnChooser table="accounts" columns={columns()} />}
      </div>
      {ids.size > 0 && page && (
        <BulkBar
          ids={[...ids]}
          filter={filter}
          matched={page.matched}
          pageFull={page.items.every((one) => ids.has(one.id)) && page.matched > page.items.length}
          allMatching={allMatching}
          onAllMatching={setAllMatching}
          onDone={() => {
            setIds(new Set());
            setAllMatching(false);
            list.reload();
          }}
        />
      )}
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {!page && !list.error && <Skeleton rows={14} />}
      {page && page.total === 0 && <NoAccounts />}
      {page && page.total > 0 && page.matched === 0 && (
        <Empty
          icon="search"
          title={t('accounts.noMatch')}
          action={<Button onClick={() => go(['accounts'])}>{t('list.clearFilters')}</Button>}
        >
          {isFiltered && t('accounts.noMatch.text', { n: page.total })}
        </Empty>
      )}
      {page && page.matched > 0 && (
        <>
          <Table
            label={t('nav.accounts')}
            rows={page.items}
            columns={narrow ? narrowColumns() : columns()}
            table="accounts"
            rowHeight={narrow ? 56 : 36}
            id={(one) => one.id}
            name={(one) => one.username}
            open={(one) => go(['accounts', one.id])}
            sort={sort}
            selection={{
              ids,
              change: (next) => {
                setIds(next);
                setAllMatching(false);
              },
            }}
            pending={list.pending}
          />
          <div class="row wrap list-foot">
            <label class="row soft">
              {t('list.perPage')}
              <select
                value={String(limit)}
                onChange={(event) =>
                  patchQuery({ limit: event.currentTarget.value, cursor: null, back: null })
                }
              >
                {PAGE_SIZES.map((size) => (
                  <option key={size}>{size}</option>
                ))}
              </select>
            </label>
            <Pager nextCursor={page.nextCursor} shown={page.items.length} matched={page.matched} />
          </div>
        </>
      )}
      <AccountDialogs mode={query.get('new')} filter={filter} onDone={list.reload} />
    </>
  );
}

/** The one word for how an account stands. */
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

function columns(): readonly Column<Account>[] {
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
      cell: (one) => <Expiry at={one.expiresAt} short />,
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
      key: 'remarks',
      head: t('account.remarks'),
      from: 700,
      cell: (one) => <span class="soft">{one.remarks}</span>,
    },
  ];
}

/** On a phone: two lines a row. */
function narrowColumns(): readonly Column<Account>[] {
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
            <Expiry at={one.expiresAt} />
            {one.latestGameId && ` · ${one.latestGameId}`}
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

function NoAccounts() {
  return (
    <Empty
      icon="accounts"
      title={t('accounts.empty')}
      action={
        <>
          <Button kind="primary" icon="plus" onClick={() => patchQuery({ new: 'one' }, 'push')}>
            {t('accounts.new')}
          </Button>
          <Button icon="upload" onClick={() => patchQuery({ new: 'import' }, 'push')}>
            {t('accounts.import')}
          </Button>
        </>
      }
    >
      {t('accounts.empty.text')}
      <pre>pulsegate account add player01 --expires 30d</pre>
    </Empty>
  );
}
