// Live sessions, and on the second tab logins and failed logins.
import { useState } from 'preact/hooks';
import type { Operations } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { useMay } from '../../lib/rights.js';
import { go, href, usePlace } from '../../lib/router.js';
import { Button, useWidth } from '../../ui/basics.js';
import { ColumnChooser } from '../../ui/columns.js';
import { Confirm } from '../../ui/dialog.js';
import { Counts, FilterChip, Pager, SearchBox } from '../../ui/list.js';
import { SelectionBar } from '../../ui/selection-bar.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { notify } from '../../ui/toast.js';
import { LoginList } from './logins.js';
import { areAtSeveralNodes, narrowSessionColumns, sessionColumns } from './session-columns.js';

export function SessionsPage({ tab }: { tab: 'live' | 'logins' }) {
  return (
    <>
      <header class="page-head">
        <h1>{t('nav.sessions')}</h1>
        <Tabs
          label={t('nav.sessions')}
          tabs={[
            { text: t('sessions.live'), link: href(['sessions']), current: tab === 'live' },
            { text: t('sessions.logins'), link: href(['sessions', 'logins']), current: tab === 'logins' },
          ]}
        />
      </header>
      {tab === 'live' ? <LiveList /> : <LoginList />}
    </>
  );
}

type Query = NonNullable<Operations['listSessions']['query']>;

function LiveList() {
  const { query } = usePlace();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState(false);
  const narrow = useWidth() < 640;
  const sort = (query.get('sort') ?? '-openedAt') as NonNullable<Query['sort']>;
  const list = useLoad(
    'listSessions',
    {
      query: {
        search: query.get('search') ?? undefined,
        game: query.get('game') ?? undefined,
        protocol: (query.get('protocol') ?? undefined) as Query['protocol'],
        cursor: query.get('cursor') ?? undefined,
        sort,
        limit: 500,
      },
    },
    { topics: ['sessions'], everyMs: 3_000 },
  );
  const canEnd = useMay('endSessions');
  const page = list.data;
  const isFleet = areAtSeveralNodes(page?.items ?? []);
  // A session that has ended is no longer selected.
  const chosen = new Set(page?.items.filter((one) => ids.has(one.id)).map((one) => one.id));
  return (
    <>
      <div class="toolbar">
        <SearchBox placeholder={t('sessions.search')} />
        <fieldset class="chips" aria-label={t('list.filters')}>
          <FilterChip name="protocol" value="tcp">
            TCP
          </FilterChip>
          <FilterChip name="protocol" value="udp">
            UDP
          </FilterChip>
          {query.has('game') && (
            <FilterChip name="game" value={query.get('game') ?? ''}>
              {query.get('game')} ×
            </FilterChip>
          )}
        </fieldset>
        {page && <Counts matched={page.matched} total={page.total} />}
        {!narrow && (
          <ColumnChooser
            table="sessions"
            columns={sessionColumns(list.reload, { account: true, node: isFleet })}
          />
        )}
      </div>
      {chosen.size > 0 && (
        <SelectionBar text={t('sessions.selected', { n: chosen.size })} onClear={() => setIds(new Set())}>
          <Button kind="danger" onClick={() => setAsking(true)}>
            {t('sessions.end')}
          </Button>
        </SelectionBar>
      )}
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {!page && !list.error && <Skeleton rows={12} />}
      {page && page.total === 0 && (
        <Empty icon="sessions" title={t('sessions.empty')}>
          {t('sessions.empty.text')}
        </Empty>
      )}
      {page && page.total > 0 && page.matched === 0 && (
        <Empty
          icon="search"
          title={t('sessions.noMatch')}
          action={<Button onClick={() => go(['sessions'])}>{t('list.clearFilters')}</Button>}
        />
      )}
      {page && page.matched > 0 && (
        <>
          <Table
            label={t('nav.sessions')}
            rows={page.items}
            columns={
              narrow
                ? narrowSessionColumns(list.reload)
                : sessionColumns(list.reload, { account: true, node: isFleet })
            }
            table="sessions"
            rowHeight={narrow ? 56 : 36}
            id={(one) => one.id}
            name={(one) => `${one.username} → ${one.destination.host}`}
            sort={sort}
            {...(canEnd ? { selection: { ids: chosen, change: setIds } } : {})}
            pending={list.pending}
          />
          <Pager nextCursor={page.nextCursor} shown={page.items.length} matched={page.matched} />
        </>
      )}
      {asking && (
        <Confirm
          title={t('sessions.endTitle', { n: chosen.size })}
          action={t('sessions.end')}
          danger
          onClose={() => setAsking(false)}
          act={async () => {
            const { ended } = await call('endSessions', { body: { ids: [...chosen] } });
            notify(t('sessions.ended', { n: ended }));
            setIds(new Set());
            list.reload();
          }}
        >
          <p>{t('sessions.endText')}</p>
        </Confirm>
      )}
    </>
  );
}
