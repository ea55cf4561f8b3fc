// Exits: the named ways out, their states and figures, and a test of each.
import { useEffect, useState } from 'preact/hooks';
import type { Exit, ExitTest } from '../../../api-types.js';
import { useAction } from '../../../lib/action.js';
import { call } from '../../../lib/api.js';
import { count } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { href } from '../../../lib/router.js';
import { Button, Pieces, State, Tag, type Tone, Traffic } from '../../../ui/basics.js';
import { AskButton, Dialog } from '../../../ui/dialog.js';
import { type Column, column, Lines } from '../../../ui/list/columns.js';
import { ShortList } from '../../../ui/list/list.js';
import { Empty, Failure } from '../../../ui/states.js';
import { ExitDialog } from './exit-dialog.js';

const TONES = { up: 'good', degraded: 'warn', down: 'bad', unknown: 'none' } as const satisfies Record<
  string,
  Tone
>;
const REFRESH_MS = 5_000;

export function ExitSettings() {
  const exits = useLoad('listExits', {}, { topics: ['settings'], everyMs: REFRESH_MS });
  const { reload } = exits;
  const [tested, setTested] = useState<string | null>(null);
  return (
    <>
      <ShortList
        of={exits}
        rowsOf={({ items }) => items}
        text={t('exits.text')}
        add={t('exits.new')}
        empty={
          <Empty icon="exit" title={t('exits.empty')}>
            {t('exits.empty.text')}
            <pre>pulsegate exit add jp --address 192.0.2.7</pre>
          </Empty>
        }
        table={(edit) => ({
          label: t('exits.title'),
          columns: columns(edit, ({ name }) => setTested(name), reload),
          rowHeight: 52,
          phoneRowHeight: 102,
          id: ({ name }) => name,
        })}
        dialog={(dialog) => <ExitDialog {...dialog} />}
      />
      {tested !== null && <TestDialog name={tested} onClose={() => setTested(null)} />}
    </>
  );
}

function StateOf({ exit: { state } }: { exit: Exit }) {
  const shown = state ?? 'unknown';
  return <State tone={TONES[shown]}>{t(`exits.state.${shown}`)}</State>;
}

/** By what sessions leave, in pieces. */
function waysOf({ upstreams, addresses, interface: device, mark, family }: Exit): readonly string[] {
  const ways = [
    ...upstreams.map(({ proxy, isUp }) => (isUp === false ? t('exits.proxyDown', { proxy }) : proxy)),
    ...addresses,
    ...(device === null ? [] : [t('exits.way.interface', { name: device })]),
    ...(mark === null ? [] : [t('exits.way.mark', { n: String(mark) })]),
    ...(family === null ? [] : [t(`exits.family.${family}`)]),
  ];
  return ways.length === 0 ? [t('exits.way.system')] : ways;
}

type Act = (exit: Exit) => void;

function columns(edit: Act, test: Act, reload: () => void): readonly Column<Exit>[] {
  const name = (exit: Exit) => (
    <>
      {exit.isFixed ? (
        <span class="strong">{exit.name}</span>
      ) : (
        <Button kind="link" look="name" onClick={() => edit(exit)}>
          {exit.name}
        </Button>
      )}{' '}
      {exit.isDefault && <Tag>{t('account.exit.none')}</Tag>}
      {exit.isFixed && <Tag>{t('exits.fixed')}</Tag>}
    </>
  );
  const ways = (exit: Exit) => <Pieces of={waysOf(exit)} between=" · " />;
  const onPhone = (exit: Exit) => (
    <div class="two-lines">
      <span>{name(exit)}</span>
      <StateOf exit={exit} />
      <span class="soft over-two-lines">{ways(exit)}</span>
    </div>
  );
  return [
    column('name', 'tokens.name', { width: 184, phone: { width: undefined, cell: onPhone } }, (exit) => (
      <div class="two-lines" title={exit.name}>
        <span>{name(exit)}</span>
        <StateOf exit={exit} />
      </div>
    )),
    column('ways', 'exits.way', {}, (exit) => <div class="over-two-lines">{ways(exit)}</div>),
    column('used', 'exits.used', { width: 176, align: 'end', from: 640 }, (exit) => {
      const { accounts, sessions, bytesUp, bytesDown } = exit;
      const used = (
        <a href={href(['accounts'], { exit: exit.name })}>
          {count(accounts)} / {count(sessions)}
        </a>
      );
      return <Lines end of={[used, <Traffic key="traffic" up={bytesUp} down={bytesDown} />]} />;
    }),
    column(
      'lastHour',
      'exits.lastHour',
      { width: 144, align: 'end', from: 640 },
      ({ failures, connectMs }) => {
        const { p50, p95 } = connectMs;
        const failed = (
          <span class={failures > 0 ? 'bad-text' : 'faint'}>
            {t('exits.failures', { n: count(failures) })}
          </span>
        );
        const connect = p50 !== null && p95 !== null && (
          <span title={t('exits.connect.title')}>{t('exits.ms', { p50, p95 })}</span>
        );
        return <Lines end of={[failed, connect]} />;
      },
    ),
    column('act', '', { width: 120, align: 'end', phone: { width: 104 } }, (exit) => (
      <span class="row end">
        <Button kind="link" onClick={() => test(exit)}>
          {t('games.run')}
        </Button>
        {!exit.isFixed && (
          <AskButton
            kind="link danger"
            text={t('operators.remove')}
            title={t('exits.remove.title', { name: exit.name })}
            act={() => call('removeExit', { params: { name: exit.name } })}
            after={reload}
            question={t('exits.remove.text')}
          />
        )}
      </span>
    )),
  ];
}

/** Tries the exit when it opens, and says what the other side sees. */
function TestDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { busy, error, run } = useAction();
  const [result, setResult] = useState<ExitTest | null>(null);
  const test = () =>
    void run(async () => {
      setResult(null);
      setResult(await call('testExit', { params: { name } }));
    });
  useEffect(test, []);
  return (
    <Dialog
      title={t('exits.test.title', { name })}
      onClose={onClose}
      unsaved={null}
      footer={
        <>
          <Button onClick={test} disabled={busy}>
            {t('exits.test.again')}
          </Button>
          <Button kind="primary" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        </>
      }
    >
      <div class="stack" role="status">
        {busy && <p class="soft">{t('exits.test.running')}</p>}
        {error ? <Failure error={error} /> : null}
        {result && <Result of={result} />}
        <p class="soft">{t('exits.test.server')}</p>
      </div>
    </Dialog>
  );
}

function Result({ of: { ok, reason, seen, local, connectMs } }: { of: ExitTest }) {
  if (!ok)
    return (
      <p>
        <State tone="bad">{t('exits.test.failed', { reason: reason ?? '' })}</State>
      </p>
    );
  return (
    <>
      <p>
        <State tone={seen === null ? 'warn' : 'good'}>
          {seen === null ? t('exits.test.unseen') : t('exits.test.seen', { seen })}
        </State>
      </p>
      <p class="soft">{t('exits.test.from', { n: connectMs ?? 0, local: local ?? '' })}</p>
    </>
  );
}
