// Events: their receivers, the dialog of each, and what was sent to them, with every attempt.
import { useState } from 'preact/hooks';
import type { EventDelivery, EventReceiver, EventType } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call, me } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, At, Button, Copied, None, State } from '../../ui/basics.js';
import { AskButton, type DialogOf, FormDialog, SecretDialog } from '../../ui/dialog.js';
import { Checkbox, InputField } from '../../ui/form.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { SetFilter, ShortList } from '../../ui/list/list.js';
import { SmallTable } from '../../ui/small-table.js';
import { Empty, Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { SentList, SentState, stateIn, typeText } from '../notices/notices.js';

const LIVE = { topics: ['notices'], everyMs: 10_000 } as const;

export function EventsPage() {
  const receivers = useLoad('listEventReceivers', {}, { topics: ['settings'] });
  const { error, run } = useAction();
  const test = ({ id }: EventReceiver) =>
    void run(async () => {
      const { delivered, detail } = await call('testEventReceiver', { params: { id } });
      notify(t(delivered ? 'notices.testGood' : 'notices.testBad', { detail }), delivered ? 'good' : 'bad');
    });
  const { items = [], types = [] } = receivers.data ?? {};
  return (
    <>
      <ShortList
        title={t('events.title')}
        of={receivers}
        rowsOf={(data) => data.items}
        text={t('events.text')}
        add={t('events.new')}
        empty={<Empty icon="events" title={t('events.empty')} />}
        table={(edit) => ({
          label: t('events.title'),
          columns: columns(edit, test, receivers.reload),
          rowHeight: 52,
          phoneRowHeight: 84,
          id: ({ id }) => id,
        })}
        dialog={(dialog) => <ReceiverDialog {...dialog} offered={types} />}
      />
      {error ? <Failure error={error} /> : null}
      {items.length > 0 && <Deliveries receivers={items} />}
    </>
  );
}

type Act = (receiver: EventReceiver) => void;

function columns(edit: Act, test: Act, reload: () => void): readonly Column<EventReceiver>[] {
  const lines = (one: EventReceiver) => {
    const owner = one.owner === me.get()?.username ? null : one.owner;
    return [
      <Button kind="link" look="name" onClick={() => edit(one)}>
        {one.url}
      </Button>,
      [owner, ...one.types.map(typeText)].filter(Boolean).join(' · '),
    ];
  };
  const result = ({ id, isEnabled }: EventReceiver) =>
    isEnabled ? <LastResult id={id} /> : <State tone="none">{t('totp.off')}</State>;
  const onPhone = (one: EventReceiver) => <Lines of={[...lines(one), result(one)]} />;
  return [
    column('url', 'events.receiver', { phone: { cell: onPhone } }, (one) => <Lines of={lines(one)} />),
    column('result', 'notices.answer', { width: 200 }, result),
    column('act', '', { width: 120, align: 'end', phone: { width: 104 } }, (one) => (
      <span class="row end">
        <Button kind="link" onClick={() => test(one)}>
          {t('games.run')}
        </Button>
        <AskButton
          kind="link danger"
          text={t('operators.remove')}
          title={t('operators.remove.title', { name: one.url })}
          act={() => call('removeEventReceiver', { params: { id: one.id } })}
          after={reload}
          question={t('events.remove.text')}
        />
      </span>
    )),
  ];
}

/** How the newest event arrived: a link that leaves only those of this receiver in the list below. */
function LastResult({ id }: { id: string }) {
  const sent = useLoad('listEventDeliveries', { query: { receiver: id, limit: 1 } }, LIVE).data?.items[0];
  if (!sent) return <None />;
  return (
    <a class="plain" href={href(['events'], { receiver: id })}>
      <SentState of={sent} /> <Ago at={sent.at} />
    </a>
  );
}

function Deliveries({ receivers }: { receivers: readonly EventReceiver[] }) {
  const { query } = usePlace();
  const asked = { state: stateIn(query), ...partsOf(query, 'receiver', 'cursor'), limit: 100 };
  const list = useLoad('listEventDeliveries', { query: asked }, LIVE);
  const urlOf = (id: string | null) => receivers.find((one) => one.id === id)?.url ?? t('operators.removed');
  const receiver = (one: EventDelivery) => urlOf(one.receiver);
  return (
    <SentList
      list={list}
      name={t('notices.history')}
      retryBy="retryEventDelivery"
      chips={<SetFilter name="receiver" text={urlOf(query.get('receiver'))} />}
      empty={<Empty icon="events" title={t('events.none')} />}
      to={[column('receiver', 'events.receiver', { width: 160, from: 760 }, receiver)]}
      detail={(one) => (
        <>
          <p class="break">{receiver(one)}</p>
          <SmallTable
            rows={one.attempts}
            id={({ at }) => at}
            columns={[
              [t('notices.at'), ({ at }) => <At at={at} />],
              [t('notices.answer'), ({ detail }) => detail],
              [t('run.took'), ({ tookMs }) => `${tookMs} ms`, 'end wide-only'],
            ]}
          />
          <pre>{JSON.stringify(one.data, null, 2)}</pre>
        </>
      )}
    />
  );
}

/** What the types are about. */
const GROUPS = [
  ['nav.accounts', /^account\./],
  ['nav.sessions', /^session\./],
  ['settings.group.access', /^(admin|backup|operator|token)\./],
  ['settings.group.server', /^(?!account|session|admin|backup|operator|token)/],
] as const;

interface ReceiverDialogProps extends DialogOf<EventReceiver | null> {
  /** The types that it may have. */
  readonly offered: readonly EventType[];
}

function ReceiverDialog({ of: row, offered, onClose, onDone }: ReceiverDialogProps) {
  const { url = '', types = offered.filter((type) => GROUPS[0][1].test(type)), isEnabled = true } = row ?? {};
  const saved = { url, types, isEnabled, newSecret: false };
  const { values, changes, isDirty, set, control } = useDraft(saved);
  const [secret, setSecret] = useState<string | null>(null);
  const box = (label: string, of: readonly EventType[]) => (
    <Checkbox
      key={label}
      checked={of.every((type) => values.types.includes(type))}
      onChange={(on) =>
        set({ types: offered.filter((type) => (of.includes(type) ? on : values.types.includes(type))) })
      }
    >
      {label}
    </Checkbox>
  );
  const send = async () => {
    const { newSecret: _, ...body } = values;
    const made = row
      ? await call('changeEventReceiver', { params: { id: row.id }, body: changes })
      : await call('addEventReceiver', { body });
    setSecret(made.secret);
    if (made.secret === null) onDone();
  };
  if (secret !== null)
    return (
      <SecretDialog title={t('events.secret')} onClose={onDone}>
        <p class="warn-text">{t('unsaved.secret.text')}</p>
        <Copied text={secret} />
      </SecretDialog>
    );
  return (
    <FormDialog
      title={t(row ? 'events.receiver' : 'events.new')}
      wide
      onClose={onClose}
      unsaved={isDirty ? 'typed' : null}
      action={t('settings.save')}
      isReady={values.url !== '' && values.types.length > 0 && isDirty}
      send={send}
    >
      <InputField label="URL" {...control('url')} placeholder="https://shop.example/" autoFocus />
      {GROUPS.map(([group, pattern]) => {
        const of = offered.filter((type) => pattern.test(type));
        return (
          of.length > 0 && (
            <fieldset key={group} class="field">
              <legend>{box(t(group), of)}</legend>
              <div class="grid-2 scopes">{of.map((type) => box(typeText(type), [type]))}</div>
            </fieldset>
          )
        );
      })}
      <Checkbox checked={values.isEnabled} onChange={(on) => set({ isEnabled: on })}>
        {t('events.enabled')}
      </Checkbox>
      {row && (
        <Checkbox checked={values.newSecret} onChange={(on) => set({ newSecret: on })}>
          {t('events.newSecret')}
        </Checkbox>
      )}
    </FormDialog>
  );
}
