// Live sessions, and on the second tab logins and failed logins.
import { useState } from 'preact/hooks';
import type { Operations } from '../../api-types.js';
import { call, may, useMay } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, partsOf, usePlace } from '../../lib/router.js';
import { Button } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { FilterChips, List, SetFilter } from '../../ui/list/list.js';
import { SelectionBar } from '../../ui/list/selection-bar.js';
import { Tabs } from '../../ui/menu.js';
import { PageHead } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { areAtSeveralNodes, LoginList, sessionColumns } from './session-columns.js';
import { TracePage } from './trace.js';

const TABS = { '': 'sessions.live', logins: 'sessions.logins' } as const;

export function SessionsPage({ tab }: { tab: string | undefined }) {
  const tabs = may('trace') ? ({ ...TABS, trace: 'trace.title' } as const) : TABS;
  const Tab = tab === 'logins' ? LoginList : tab === 'trace' ? TracePage : LiveList;
  return (
    <>
      <PageHead title={t('nav.sessions')}>
        <Tabs of="sessions" label={t('nav.sessions')} tabs={tabs} />
      </PageHead>
      <Tab />
    </>
  );
}

type Query = NonNullable<Operations['listSessions']['query']>;

function LiveList() {
  const { query } = usePlace();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const sort = (query.get('sort') ?? '-openedAt') as NonNullable<Query['sort']>;
  const protocol = (query.get('protocol') ?? undefined) as Query['protocol'];
  const asked = { ...partsOf(query, 'search', 'game', 'cursor'), protocol, sort, limit: 500 };
  const list = useLoad('listSessions', { query: asked }, { topics: ['sessions'], everyMs: 3_000 });
  const canEnd = useMay('endSessions');
  const items = list.data?.items ?? [];
  // A session that has ended is no longer selected.
  const chosen = new Set(items.filter((one) => ids.has(one.id)).map((one) => one.id));
  const endChosen = async () => {
    const { ended } = await call('endSessions', { body: { ids: [...chosen] } });
    notify(t('sessions.ended', { n: ended }));
    setIds(new Set());
    list.reload();
  };
  return (
    <List
      list={list}
      search={t('sessions.search')}
      chips={
        <>
          <FilterChips name="protocol" values={['tcp', 'udp']} text={(value) => value.toUpperCase()} />
          <SetFilter name="game" />
        </>
      }
      empty={({ total }) =>
        total === 0 ? (
          <Empty icon="sessions" title={t('sessions.empty')} text={t('sessions.empty.text')} />
        ) : (
          <Empty
            icon="search"
            title={t('sessions.noMatch')}
            action={<Button onClick={() => go(['sessions'])}>{t('list.clearFilters')}</Button>}
          />
        )
      }
      table={{
        label: t('nav.sessions'),
        columns: sessionColumns(list.reload, { account: true, node: areAtSeveralNodes(items) }),
        table: 'sessions',
        id: (one) => one.id,
        name: (one) => `${one.username} → ${one.destination.host}`,
        sort,
        ...(canEnd ? { selection: { ids: chosen, change: setIds } } : {}),
      }}
    >
      {chosen.size > 0 && (
        <SelectionBar text={t('sessions.selected', { n: chosen.size })} onClear={() => setIds(new Set())}>
          <AskButton
            kind="danger"
            text={t('sessions.end')}
            title={t('sessions.endTitle', { n: chosen.size })}
            act={endChosen}
            question={t('sessions.endText')}
          />
        </SelectionBar>
      )}
    </List>
  );
}
