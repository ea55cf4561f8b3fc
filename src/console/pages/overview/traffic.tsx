// The traffic report: who used how much in a range of days, by account, tag, plan, seller, game or exit.
import type { Operations, TrafficItem, TrafficReport } from '../../api-types.js';
import { urlOf, useMay, useUser } from '../../lib/api.js';
import { bytes, count, dayBefore, percent } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, showFiltered, usePlace } from '../../lib/router.js';
import { AccountLink, Button, None, Traffic } from '../../ui/basics.js';
import { DayRange } from '../../ui/expiry-field.js';
import { Segments } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { type Column, column } from '../../ui/list/columns.js';
import { List } from '../../ui/list/list.js';
import { Table } from '../../ui/list/table.js';
import { PageHead } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';

type Query = NonNullable<Operations['getTrafficReport']['query']>;
type By = NonNullable<Query['by']>;

const BY: readonly By[] = ['account', 'tag', 'plan', 'seller', 'game', 'exit'];
/** By its text: the first and the last day, counted back from today. */
const QUICK = {
  'traffic.today': [0, 0],
  'traffic.yesterday': [1, 1],
  'traffic.week': [6, 0],
  'traffic.month': [29, 0],
} as const;

/** The parameter of the list of accounts that shows those of a line. */
const FILTER = { tag: 'tag', plan: 'plan', seller: 'owner', game: 'game', exit: 'exit' } as const;

export function TrafficPage() {
  const { query } = usePlace();
  const by = BY.find((one) => one === query.get('by')) ?? 'account';
  const sort = (query.get('sort') ?? '-bytes') as NonNullable<Query['sort']>;
  const asked = { ...partsOf(query, 'from', 'until'), by, sort };
  const ofPage = { ...asked, ...partsOf(query, 'cursor'), limit: 100 };
  const list = useLoad('getTrafficReport', { query: ofPage });
  const mayExport = useMay('exportTraffic');
  const sellers = useMay('listOperators');
  const options = BY.filter((one) => one !== 'seller' || sellers);
  return (
    <>
      <PageHead title={t('nav.traffic')}>
        <Segments
          value={by}
          label={t('heartbeats.by')}
          onInput={(next) => showFiltered({ by: next === 'account' ? null : next })}
          options={options.map((value) => ({ value, label: t(`traffic.by.${value}`) }))}
        />
        <span class="grow" />
        {mayExport && (
          <a class="button" href={urlOf('exportTraffic', { query: asked })} download>
            <Icon name="download" />
            CSV
          </a>
        )}
      </PageHead>
      <List
        list={list}
        chips={<QuickRanges />}
        tools={<DayRange />}
        empty={(report) => (
          <>
            <Sum of={report} />
            <Empty icon="traffic" title={t('traffic.none')} text={t('traffic.none.text')} />
          </>
        )}
        table={(items) =>
          list.data && (
            <>
              <Sum of={list.data} />
              <Table
                label={t('nav.traffic')}
                rows={items}
                columns={columnsOf(by, list.data.sum.bytesUp + list.data.sum.bytesDown)}
                id={({ key, isOthers }) => `${isOthers}${key}`}
                sort={sort}
              />
            </>
          )
        }
      />
    </>
  );
}

function QuickRanges() {
  const { query } = usePlace();
  const timeZone = useUser()?.timeZone ?? 'UTC';
  return Object.entries(QUICK).map(([text, days]) => {
    const [from = '', until = ''] = days.map((ago) => dayBefore(ago, timeZone));
    const isDefault = text === 'traffic.month' && !query.has('from') && !query.has('until');
    const isChosen = isDefault || (query.get('from') === from && query.get('until') === until);
    return (
      <Button key={text} kind="chip" pressed={isChosen} onClick={() => showFiltered({ from, until })}>
        {t(text as keyof typeof QUICK)}
      </Button>
    );
  });
}

/** What the whole range comes to, and what of it the report cannot know. */
function Sum({ of: { from, until, zone, sum, unknown } }: { of: TrafficReport }) {
  const unknownBytes = unknown.bytesUp + unknown.bytesDown;
  return (
    <div class="row wrap">
      <span>{from === until ? from : t('list.days.between', { from, until })}</span>
      <span class="soft">{zone}</span>
      <strong>
        <Traffic up={sum.bytesUp} down={sum.bytesDown} />
      </strong>
      {unknownBytes > 0 && (
        <span class="notice row close">
          <Icon name="warn" />
          <span>{t('traffic.unknown', { what: bytes(unknownBytes) })}</span>
        </span>
      )}
    </div>
  );
}

function columnsOf(by: By, whole: number): readonly Column<TrafficItem>[] {
  const end = { width: 104, align: 'end' } as const;
  const counted = (value: number | null) => (value === null ? <None /> : count(value));
  const has: Readonly<Record<string, boolean>> = {
    accounts: by !== 'account',
    sessions: by !== 'game' && by !== 'exit',
  };
  const all: readonly Column<TrafficItem>[] = [
    column('label', `traffic.by.${by}`, { sort: 'label' }, (line) => <Name of={line} by={by} />),
    column('accounts', 'nav.accounts', { ...end, from: 640, sort: '-accounts' }, (line) =>
      counted(line.accounts),
    ),
    column('sessions', 'nav.sessions', { ...end, from: 720, sort: '-sessions' }, (line) =>
      counted(line.sessions),
    ),
    column('down', 'traffic.down', { ...end, from: 560, sort: '-bytesDown' }, ({ bytesDown }) =>
      bytes(bytesDown),
    ),
    column('up', 'traffic.up', { ...end, from: 600, sort: '-bytesUp' }, ({ bytesUp }) => bytes(bytesUp)),
    column('bytes', 'traffic.total', { ...end, sort: '-bytes' }, ({ bytesUp, bytesDown }) => (
      <span class="strong">{bytes(bytesUp + bytesDown)}</span>
    )),
    column('share', 'traffic.share', { width: 72, align: 'end' }, ({ bytesUp, bytesDown }) => (
      <span class="soft">{percent(bytesUp + bytesDown, whole)}</span>
    )),
  ];
  return all.filter(({ key }) => has[key] !== false);
}

function Name({ of: { key, label, isOthers }, by }: { of: TrafficItem; by: By }) {
  if (isOthers) return <span class="soft">{t('heartbeats.others')}</span>;
  if (key === null) return <span class="soft">{t(by === 'seller' ? 'traffic.own' : 'traffic.without')}</span>;
  if (by === 'account') return <AccountLink id={key} name={label ?? key} />;
  return (
    <a class="strong" href={href(['accounts'], { [FILTER[by]]: key })}>
      {label ?? key}
    </a>
  );
}
