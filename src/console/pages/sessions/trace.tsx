// "Who was it": the accounts that used a destination at a time, for the answer to an abuse report. A report that is pasted gives choices.
import { useEffect, useState } from 'preact/hooks';
import type { Report, Trace, TraceItem } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call } from '../../lib/api.js';
import { controlOf } from '../../lib/draft.js';
import { duration, hostPort, localTime } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, patchQuery, usePlace } from '../../lib/router.js';
import { AccountLink, At, Button, Client, State, Traffic } from '../../ui/basics.js';
import { AreaField, InputField, optionsOf, SelectField, submitting } from '../../ui/form.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { Table } from '../../ui/list/table.js';
import { Empty, Failure, FormErrors, WhenLoaded } from '../../ui/states.js';
import { WayCell } from './session-columns.js';

const EXAMPLES = {
  destination: '198.51.100.7',
  port: '25',
  outgoing: '192.0.2.1',
  outgoingPort: '54322',
  time: '2026-11-19 03:21:41',
} as const;
const NAMES = Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[];
type Form = Readonly<Record<keyof typeof EXAMPLES | 'zone' | 'tolerance', string>>;
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, '']));
/** As the API takes them, in seconds. */
const TOLERANCES = { '10s': 10, '1m': 60, '5m': 300, '1h': 3_600, '12h': 43_200 };
/** The zone is never guessed: '' until somebody has chosen one. */
const zoneOf = (h: number) => `${h < 0 ? '-' : '+'}${new Date(Math.abs(h) * 36e5).toJSON().slice(11, 16)}`;
const ZONES = ['', ...Array.from({ length: 53 }, (_, i) => zoneOf(i / 2 - 12))];
const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)$/;

function shown({ address, port }: { address: string | null; port: number | null }): string {
  return port === null ? (address ?? '') : hostPort({ host: address ?? '', port });
}

export function TracePage() {
  const { query } = usePlace();
  const { time = '', zone = '', ...asked } = Object.fromEntries(query);
  const ofAddress = { tolerance: '5m', ...NOTHING, ...asked, time, zone } as Form;
  const [form, setForm] = useState(ofAddress);
  useEffect(() => setForm(ofAddress), [query]);
  const set = (patch: Partial<Form>) => setForm((before) => ({ ...before, ...patch }));
  const control = controlOf(form, set);
  const at = TIME.test(time) && zone !== '' ? time.replace(' ', 'T') + zone : null;
  // The daemon says what is wrong with it.
  const found = useLoad('trace', at === null ? null : { query: { ...asked, at, limit: 1_000 } });
  const isTime = TIME.test(form.time);
  const isReady = isTime && form.zone !== '' && form.destination + form.outgoingPort !== '';
  const zones = optionsOf([...new Set([...ZONES, form.zone])], (each) =>
    each ? `UTC${each}` : t('trace.choose'),
  );
  return (
    <>
      <div class="columns">
        <form
          class="card stack"
          onSubmit={submitting(() => {
            if (isReady) patchQuery(form, 'push');
          })}
        >
          <p class="soft">{t('trace.text')}</p>
          <FormErrors error={found.error}>
            <div class="grid-2">
              {NAMES.map((name) => (
                <InputField
                  key={name}
                  label={t(`trace.${name}`)}
                  path={name}
                  error={name === 'time' && form.time !== '' && !isTime ? EXAMPLES.time : undefined}
                  value={form[name]}
                  onInput={(text) => set({ [name]: text.trimStart() })}
                  placeholder={EXAMPLES[name]}
                />
              ))}
              <SelectField label={t('trace.zone')} {...control('zone')} options={zones} />
              <SelectField
                label={t('trace.tolerance')}
                {...control('tolerance')}
                options={Object.entries(TOLERANCES).map(([value, seconds]) => ({
                  value,
                  label: `± ${duration(seconds * 1_000)}`,
                }))}
              />
            </div>
          </FormErrors>
          <div class="row">
            <Button type="submit" kind="primary" icon="search" disabled={!isReady}>
              {t('trace.search')}
            </Button>
          </div>
        </form>
        <ReportBox set={set} />
      </div>
      {at !== null && (
        <WhenLoaded of={{ ...found, error: null }} rows={3}>
          {(data) => <Found of={data} />}
        </WhenLoaded>
      )}
    </>
  );
}

function fields(role: 'destination' | 'outgoing', { address, port }: Report['ends'][number]): Partial<Form> {
  const name = role === 'destination' ? 'port' : 'outgoingPort';
  return { ...(address && { [role]: address }), ...(port && { [name]: String(port) }) };
}

/** What was found in a pasted report: each choice fills fields of the form. */
function ReportBox({ set }: { set: (patch: Partial<Form>) => void }) {
  const [text, setText] = useState('');
  const [{ ends, times }, setReport] = useState<Report>({ ends: [], times: [] });
  const { busy, error, run } = useAction();
  return (
    <section class="card stack">
      <AreaField label={t('trace.report')} value={text} onInput={setText} rows={8} mono />
      <div class="row">
        <Button
          onClick={() => void run(async () => setReport(await call('readReport', { body: { text } })))}
          disabled={text.trim() === '' || busy}
        >
          {t('trace.report.read')}
        </Button>
      </div>
      {error ? <Failure error={error} /> : null}
      <div class="stack" role="status">
        {ends.map((end) => (
          <div class="row wrap" key={shown(end) + end.role}>
            <code class="grow">{shown(end)}</code>
            {(['destination', 'outgoing'] as const).map((role) => (
              <Button
                key={role}
                kind={end.role === role ? 'primary' : 'plain'}
                onClick={() => set(fields(role, end))}
              >
                {t(`trace.role.${role}`)}
              </Button>
            ))}
          </div>
        ))}
        {times.map(({ local, offset, text: written }) => (
          <div class="row wrap" key={local + offset}>
            <code class="grow">{written}</code>
            <Button onClick={() => set({ time: local.replace('T', ' '), zone: offset ?? '' })}>
              {`${local.replace('T', ' ')} ${offset ?? t('trace.choose')}`}
            </Button>
          </div>
        ))}
      </div>
    </section>
  );
}

function Found({ of: { items, incomplete, nextCursor } }: { of: Trace }) {
  return (
    <>
      {incomplete.map(({ reason, count = 0, since }) => (
        <p class="soft" key={reason}>
          <State tone="warn">
            {t(`trace.incomplete.${reason}`, { n: count, since: since ? localTime(since) : '—' })}
          </State>
        </p>
      ))}
      {nextCursor !== null && <p class="soft">{t('trace.more', { n: items.length })}</p>}
      {items.length === 0 ? (
        <Empty icon="search" title={t('trace.none')} />
      ) : (
        <Table
          label={t('trace.title')}
          rows={items}
          columns={columns()}
          rowHeight={56}
          id={(one) => one.session + hostPort(one.destination)}
        />
      )}
    </>
  );
}

function columns(): readonly Column<TraceItem>[] {
  return [
    column('who', 'account.username', {}, (one) => (
      <Lines of={[<AccountLink id={one.account.id} name={one.account.username} />, <Client of={one} />]} />
    )),
    column('where', 'sessions.destination', {}, (one) => {
      const { destination, account, isLive } = one;
      const link = isLive ? href(['sessions'], { search: account.username }) : undefined;
      return <WayCell to={hostPort(destination)} way={{ ...one, ...destination }} link={link} />;
    }),
    column('when', 'trace.when', {}, ({ startedAt, endedAt }) => (
      <Lines of={[<At at={startedAt} />, <At at={endedAt} />]} />
    )),
    column('bytes', 'nav.traffic', { width: 184, from: 900, align: 'end' }, (one) => (
      <Traffic up={one.bytesUp ?? 0} down={one.bytesDown ?? 0} />
    )),
  ];
}
