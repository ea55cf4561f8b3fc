// Game rules: the first that matches gives a flow its GameID. Each can be tried before it is saved.
import { useState } from 'preact/hooks';
import type { GameRule, GameRuleTestResult } from '../api-types.js';
import { call } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Button, State, Tag } from '../ui/basics.js';
import { Confirm, useAction } from '../ui/dialog.js';
import { Area, Field, Input, Segments, Select } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';

export function GameSettings() {
  const saved = useLoad('getGameRules', {}, { topics: ['settings'] });
  const [edited, setEdited] = useState<readonly GameRule[] | null>(null);
  const [forgetting, setForgetting] = useState(false);
  const { busy, error, run } = useAction();
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={6} />;
  const rules = edited ?? saved.data.rules;
  const change = (index: number, rule: GameRule | null) =>
    setEdited(rules.flatMap((one, i) => (i !== index ? [one] : rule === null ? [] : [rule])));
  const move = (index: number) => {
    const next = [...rules];
    const [rule] = next.splice(index, 1);
    if (rule) next.splice(index - 1, 0, rule);
    setEdited(next);
  };
  const save = () =>
    run(async () => {
      await call('setGameRules', { body: { rules } });
      notify(t('games.saved'));
      setEdited(null);
      saved.reload();
    });
  return (
    <div class="columns wide-first">
      <section class="stack">
        <div class="row wrap">
          <p class="soft grow">{t('games.text')}</p>
          <Tag>{t(`games.source.${saved.data.source}`)}</Tag>
        </div>
        {rules.length === 0 && <p class="card soft">{t('games.empty')}</p>}
        {rules.map((rule, i) => (
          // A rule is known by its place.
          <RuleCard
            key={i}
            index={i}
            rule={rule}
            onChange={(next) => change(i, next)}
            onUp={i > 0 ? () => move(i) : undefined}
          />
        ))}
        {error ? <Failure error={error} /> : null}
        <div class="row wrap">
          <Button icon="plus" onClick={() => setEdited([...rules, { id: '', match: {} }])}>
            {t('games.add')}
          </Button>
          <span class="grow" />
          {saved.data.source === 'console' && (
            <Button onClick={() => setForgetting(true)}>{t('games.forget')}</Button>
          )}
          {edited && <Button onClick={() => setEdited(null)}>{t('settings.undo')}</Button>}
          <Button kind="primary" disabled={!edited || busy} onClick={() => void save()}>
            {t('settings.save')}
          </Button>
        </div>
      </section>
      <Tester rules={rules} />
      {forgetting && (
        <Confirm
          title={t('games.forget')}
          action={t('games.forget')}
          onClose={() => setForgetting(false)}
          act={async () => {
            await call('forgetGameRules');
            setEdited(null);
            saved.reload();
          }}
        >
          <p>{t('games.forget.text')}</p>
        </Confirm>
      )}
    </div>
  );
}

interface RuleProps {
  readonly index: number;
  readonly rule: GameRule;
  readonly onChange: (rule: GameRule | null) => void;
  readonly onUp: (() => void) | undefined;
}

function RuleCard({ index, rule, onChange, onUp }: RuleProps) {
  const kind = rule.gameId === undefined ? 'fixed' : 'pattern';
  const { hosts = [], ports = [], protocol } = rule.match ?? {};
  const setMatch = (part: NonNullable<GameRule['match']>) => {
    const match = { ...rule.match, ...part };
    onChange({
      ...rule,
      match: {
        ...(match.hosts && match.hosts.length > 0 ? { hosts: match.hosts } : {}),
        ...(match.ports && match.ports.length > 0 ? { ports: match.ports } : {}),
        ...(match.protocol ? { protocol: match.protocol } : {}),
      },
    });
  };
  const match = rule.match ?? {};
  return (
    <section class="card stack" aria-label={t('games.rule', { n: index + 1 })}>
      <div class="row wrap">
        <strong class="number">{index + 1}</strong>
        <Segments
          value={kind}
          label={t('games.kind')}
          onChange={(next) =>
            onChange(
              next === 'fixed' ? { id: '', match } : { gameId: '', match, maxBytes: rule.maxBytes ?? 4_096 },
            )
          }
          options={[
            { value: 'fixed', label: t('games.fixed') },
            { value: 'pattern', label: t('games.pattern') },
          ]}
        />
        <span class="grow" />
        {onUp && <Button icon="up" kind="quiet" onClick={onUp} label={t('games.moveUp')} />}
        <Button icon="close" kind="quiet" onClick={() => onChange(null)} label={t('games.remove')} />
      </div>
      <div class="grid-2">
        {kind === 'fixed' ? (
          <Field label="GameID">
            <Input value={rule.id ?? ''} onInput={(id) => onChange({ ...rule, id })} maxLength={128} />
          </Field>
        ) : (
          <Field label={t('games.pattern')} hint={t('games.pattern.hint')}>
            <Input
              value={rule.gameId ?? ''}
              onInput={(gameId) => onChange({ ...rule, gameId })}
              placeholder="GAMEID=([A-Z0-9]+);"
            />
          </Field>
        )}
        <Field label={t('games.protocol')}>
          <Select
            value={protocol ?? 'any'}
            onChange={(next) => setMatch({ protocol: next === 'any' ? undefined : next })}
            options={[
              { value: 'any', label: t('games.any') },
              { value: 'tcp', label: 'TCP' },
              { value: 'udp', label: 'UDP' },
            ]}
          />
        </Field>
        <ListField
          label={t('games.hosts')}
          hint={t('games.hosts.hint')}
          value={hosts}
          onChange={(next) => setMatch({ hosts: next })}
        />
        <ListField
          label={t('games.ports')}
          hint={t('games.ports.hint')}
          value={ports.map(String)}
          onChange={(next) =>
            setMatch({ ports: next.map((port) => (/^\d+$/.test(port) ? Number(port) : port)) })
          }
        />
      </div>
    </section>
  );
}

interface ListProps {
  readonly label: string;
  readonly hint: string;
  readonly value: readonly string[];
  readonly onChange: (value: string[]) => void;
}

/** Several words in one field, with commas between; read when it is left. */
function ListField({ label, hint, value, onChange }: ListProps) {
  return (
    <Field label={label} hint={hint}>
      <input
        value={value.join(', ')}
        spellcheck={false}
        autocomplete="off"
        placeholder={t('games.any')}
        onChange={(event) =>
          onChange(
            event.currentTarget.value
              .split(/[,，\s]+/)
              .map((part) => part.trim())
              .filter((part) => part !== ''),
          )
        }
      />
    </Field>
  );
}

function Tester({ rules }: { rules: readonly GameRule[] }) {
  const [destination, setDestination] = useState('gz-1.arena.example:7000');
  const [protocol, setProtocol] = useState<'tcp' | 'udp'>('tcp');
  const [text, setText] = useState('');
  const [form, setForm] = useState<'text' | 'hex'>('text');
  const [result, setResult] = useState<GameRuleTestResult | null>(null);
  const { busy, error, run } = useAction();
  const bytes = form === 'text' ? new TextEncoder().encode(text) : fromHex(text);
  const ready = destination !== '' && bytes !== null && rules.length > 0 && !busy;
  const submit = () => {
    if (!ready || !bytes) return;
    void run(async () =>
      setResult(
        await call('testGameRules', { body: { rules, destination, protocol, bytes: base64(bytes) } }),
      ),
    );
  };
  return (
    <form
      class="card stack sticky"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{t('games.test')}</h2>
      <p class="soft">{t('games.test.text')}</p>
      <Field label={t('games.destination')}>
        <Input value={destination} onInput={setDestination} placeholder="host:port" />
      </Field>
      <Segments
        value={protocol}
        label={t('games.protocol')}
        onChange={setProtocol}
        options={[
          { value: 'tcp', label: 'TCP' },
          { value: 'udp', label: 'UDP' },
        ]}
      />
      <div class="row">
        <span class="grow">{t('games.bytes')}</span>
        <Segments
          value={form}
          label={t('games.form')}
          onChange={setForm}
          options={[
            { value: 'text', label: t('games.form.text') },
            { value: 'hex', label: t('games.form.hex') },
          ]}
        />
      </div>
      <Field label={t('games.bytes.label')} hint={bytes === null ? t('games.badHex') : undefined}>
        <Area
          value={text}
          onInput={setText}
          rows={3}
          mono
          placeholder={form === 'text' ? 'GAMEID=ARENA7;' : '47 41 4d 45'}
        />
      </Field>
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('games.run')}
        </Button>
      </div>
      {result && (
        <div class="preview" role="status">
          {result.rule === null ? (
            <State tone="warn">{t('games.noMatch')}</State>
          ) : (
            <State tone="good">{t('games.matched', { n: result.rule + 1, id: result.gameId ?? '' })}</State>
          )}
          <ol class="soft">
            {result.steps.map((step) => (
              <li key={step.rule}>
                {t('games.rule', { n: step.rule + 1 })}: {t(`games.outcome.${step.outcome}`)}
              </li>
            ))}
          </ol>
        </div>
      )}
    </form>
  );
}

function fromHex(text: string): Uint8Array | null {
  const digits = text.replace(/\s+/g, '');
  if (!/^([\da-f]{2})*$/i.test(digits)) return null;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
