// Game rules: the first matching rule gives a flow its GameID. An operator can test each rule against a destination and first bytes
// before saving it.
import { useRef, useState } from 'preact/hooks';
import type { GameRule, GameRuleTestResult } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call, callWithEtag } from '../../lib/api.js';
import { controlOf, useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Button, PermittedButton, State, Tag } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { AreaField, InputField, optionsOf, Segments, submitting, Word } from '../../ui/form.js';
import { SettingsForm, useSaving } from '../../ui/settings-form.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { RuleCard, type RuleFields, readRule, ruleFields } from './games-rule.js';

export function GameSettings() {
  const saved = useLoad('getGameRules', {}, { topics: ['settings'] });
  const draft = useDraft({
    rules: (saved.data?.rules ?? []).map((rule, i) =>
      ruleFields(rule, `saved ${i}`),
    ) as readonly RuleFields[],
    etag: saved.etag,
  });
  const added = useRef(0);
  const [isStrict, setStrict] = useState(false);
  const saving = useSaving(() => callWithEtag('getGameRules'));
  const { theirs } = saving;
  if (!saved.data) return <WhenLoaded of={saved} rows={6} />;

  const fields = draft.values.rules;
  const setRules = (rules: readonly RuleFields[]) => draft.set({ rules });
  const read = fields.map(readRule);
  const rules = read.every((rule) => rule !== undefined) ? read : null;
  const change = (index: number, patch: Partial<RuleFields>) =>
    setRules(fields.map((one, i) => (i === index ? { ...one, ...patch } : one)));
  const moveUp = (index: number) => {
    const next = [...fields];
    next.splice(index - 1, 0, ...next.splice(index, 1));
    setRules(next);
  };
  const add = () => {
    added.current += 1;
    setRules([...fields, ruleFields(null, `added ${added.current}`)]);
  };
  const reset = () => {
    draft.reset();
    setStrict(false);
  };
  const save = async () => {
    setStrict(true);
    if (!rules) return;
    const { etag } = theirs ?? draft.base;
    saved.put(await callWithEtag('setGameRules', { body: { rules }, etag }));
    notify(t('games.saved'));
    reset();
  };
  const forget = async () => {
    saved.put(await callWithEtag('forgetGameRules'));
    reset();
    saving.clear();
  };
  const conflict = theirs && {
    label: t('settings.games'),
    theirs: inShort(theirs.answer.rules),
    mine: inShort(rules ?? []),
  };
  return (
    <div class="columns wide-first">
      <section class="stack">
        <div class="row wrap">
          <p class="soft grow">
            {t('games.text')} <Word of={[t('games.add')]} />
          </p>
          <Tag>{t(`games.source.${saved.data.source}`)}</Tag>
          {saved.data.source === 'console' && (
            <AskButton
              right="forgetGameRules"
              text={t('games.forget')}
              act={forget}
              question={t('games.forget.text')}
            />
          )}
        </div>
        <SettingsForm
          draft={{ isDirty: draft.isDirty, reset }}
          work={saving}
          right="setGameRules"
          // What is missing is marked when the operator first tries to save.
          isValid={rules !== null || !isStrict}
          save={save}
          conflict={conflict && [conflict]}
          look="stack"
        >
          {fields.length === 0 && <p class="card soft">{t('games.empty')}</p>}
          {fields.map((one, i) => (
            <RuleCard
              key={one.key}
              index={i}
              fields={one}
              strict={isStrict}
              onChange={(patch) => change(i, patch)}
              actions={
                <>
                  {i > 0 && (
                    <Button icon="up" kind="quiet" onClick={() => moveUp(i)} label={t('games.moveUp')} />
                  )}
                  <Button
                    icon="close"
                    kind="quiet"
                    onClick={() => setRules(fields.filter((other) => other !== one))}
                    label={t('games.remove')}
                  />
                </>
              }
            />
          ))}
          <div class="row">
            <Button icon="plus" onClick={add}>
              {t('games.add')}
            </Button>
          </div>
        </SettingsForm>
      </section>
      <RuleTester rules={rules} />
    </div>
  );
}

function inShort(rules: readonly GameRule[]): string {
  return rules.length === 0 ? '—' : rules.map((rule) => rule.id ?? rule.gameId ?? '').join(' · ');
}

const EXAMPLE = {
  destination: 'gz-1.arena.example:7000',
  protocol: 'tcp' as 'tcp' | 'udp',
  /** The first bytes, in this form. */
  text: '',
  form: 'text' as 'text' | 'hex',
};

/** @param rules null while a rule is incomplete */
function RuleTester({ rules }: { rules: readonly GameRule[] | null }) {
  const [typed, setTyped] = useState(EXAMPLE);
  const control = controlOf(typed, (patch) => setTyped((before) => ({ ...before, ...patch })));
  const { destination, protocol, text, form } = typed;
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
      <InputField of="sessions.destination" {...control('destination')} placeholder="host:port" />
      <Segments
        {...control('protocol')}
        label={t('games.protocol')}
        options={optionsOf(['tcp', 'udp'], (of) => of.toUpperCase())}
      />
      <div class="row">
        <span class="grow">{t('games.bytes')}</span>
        <Segments
          {...control('form')}
          label={t('games.form')}
          options={optionsOf(['text', 'hex'], (of) => t(`games.form.${of}`))}
        />
      </div>
      <AreaField
        of="games.bytes.label"
        isWrong={bytes === null}
        {...control('text')}
        rows={3}
        mono
        placeholder={form === 'text' ? 'GAMEID=ARENA7;' : '47 41 4d 45'}
      />
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
