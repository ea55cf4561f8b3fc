// Tests saved or unsaved game rules against a destination and first bytes.
import { useState } from 'preact/hooks';
import type { GameRule, GameRuleTestResult } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { State } from '../../ui/basics.js';
import { useAction } from '../../ui/dialog.js';
import { Area, Field, Input, optionsOf, Segments, submitting } from '../../ui/form.js';
import { PermittedButton } from '../../ui/permitted.js';
import { Failure } from '../../ui/states.js';

/** @param rules null while a rule is incomplete */
export function RuleTester({ rules }: { rules: readonly GameRule[] | null }) {
  const [destination, setDestination] = useState('gz-1.arena.example:7000');
  const [protocol, setProtocol] = useState<'tcp' | 'udp'>('tcp');
  const [text, setText] = useState('');
  const [form, setForm] = useState<'text' | 'hex'>('text');
  const [result, setResult] = useState<GameRuleTestResult | null>(null);
  const { busy, error, run } = useAction();
  const bytes = form === 'text' ? new TextEncoder().encode(text) : fromHex(text);
  const ready = destination !== '' && bytes !== null && rules !== null && rules.length > 0 && !busy;
  const submit = () => {
    if (!ready || !bytes || !rules) return;
    void run(async () =>
      setResult(
        await call('testGameRules', { body: { rules, destination, protocol, bytes: base64(bytes) } }),
      ),
    );
  };
  return (
    <form class="card stack sticky" onSubmit={submitting(submit)}>
      <h2>{t('games.test')}</h2>
      <p class="soft">{t('games.test.text')}</p>
      <Field label={t('sessions.destination')}>
        <Input value={destination} onInput={setDestination} placeholder="host:port" />
      </Field>
      <Segments
        value={protocol}
        label={t('games.protocol')}
        onInput={setProtocol}
        options={optionsOf(['tcp', 'udp'], (of) => of.toUpperCase())}
      />
      <div class="row">
        <span class="grow">{t('games.bytes')}</span>
        <Segments
          value={form}
          label={t('games.form')}
          onInput={setForm}
          options={optionsOf(['text', 'hex'], (of) => t(`games.form.${of}`))}
        />
      </div>
      <Field label={t('games.bytes.label')} error={bytes === null ? t('games.badHex') : undefined}>
        <Area
          value={text}
          onInput={setText}
          rows={3}
          mono
          placeholder={form === 'text' ? 'GAMEID=ARENA7;' : '47 41 4d 45'}
        />
      </Field>
      {error ? <Failure error={error} /> : null}
      {rules === null && <p class="soft">{t('games.incomplete')}</p>}
      <div class="row">
        <PermittedButton to="testGameRules" type="submit" kind="primary" disabled={!ready}>
          {t('games.run')}
        </PermittedButton>
      </div>
      {result && (
        <div class="preview stack near" role="status">
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
