// Game rules: the first matching rule gives a flow its GameID. An operator can test each rule before saving it.
import { useRef, useState } from 'preact/hooks';
import type { GameRule } from '../../api-types.js';
import { callWithEtag } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Button, Tag } from '../../ui/basics.js';
import { Conflict, useSaving } from '../../ui/conflict.js';
import { AskButton } from '../../ui/dialog.js';
import { PermittedButton } from '../../ui/permitted.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { RuleCard, type RuleFields, readRule, ruleFields } from './games-rule.js';
import { RuleTester } from './games-tester.js';

interface Fields {
  readonly rules: readonly RuleFields[];
  readonly etag: string | null;
}

export function GameSettings() {
  const saved = useLoad('getGameRules', {}, { topics: ['settings'] });
  const draft = useDraft<Fields>({
    rules: (saved.data?.rules ?? []).map((rule, i) => ruleFields(rule, `saved ${i}`)),
    etag: saved.etag,
  });
  const added = useRef(0);
  const [isStrict, setStrict] = useState(false);
  const { theirs, busy, error, run, clear } = useSaving(() => callWithEtag('getGameRules'));
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
  const undo = () => {
    draft.reset();
    setStrict(false);
    clear();
  };
  const save = () => {
    setStrict(true);
    if (!rules) return;
    void run(async () => {
      const { etag } = theirs ?? draft.base;
      const done = await callWithEtag('setGameRules', { body: { rules }, etag });
      notify(t('games.saved'));
      saved.put(done.answer, done.etag);
      undo();
    });
  };
  return (
    <div class="columns wide-first">
      <section class="stack">
        <div class="row wrap">
          <p class="soft grow">{t('games.text')}</p>
          <Tag>{t(`games.source.${saved.data.source}`)}</Tag>
        </div>
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
        {theirs && (
          <Conflict
            fields={[
              {
                label: t('settings.games'),
                theirs: inShort(theirs.answer.rules),
                mine: inShort(rules ?? []),
              },
            ]}
          />
        )}
        {error ? <Failure error={error} /> : null}
        <div class="row wrap">
          <Button icon="plus" onClick={add}>
            {t('games.add')}
          </Button>
          <span class="grow" />
          {saved.data.source === 'console' && (
            <AskButton
              right="forgetGameRules"
              text={t('games.forget')}
              act={async () => {
                const done = await callWithEtag('forgetGameRules');
                saved.put(done.answer, done.etag);
                undo();
              }}
              question={t('games.forget.text')}
            />
          )}
          {draft.isDirty && <Button onClick={undo}>{t('settings.undo')}</Button>}
          <PermittedButton to="setGameRules" kind="primary" disabled={!draft.isDirty || busy} onClick={save}>
            {t(theirs ? 'account.saveAnyway' : 'settings.save')}
          </PermittedButton>
        </div>
      </section>
      <RuleTester rules={rules} />
    </div>
  );
}

/** Summarizes the rules by their GameIDs. */
function inShort(rules: readonly GameRule[]): string {
  return rules.length === 0 ? '—' : rules.map((rule) => rule.id ?? rule.gameId ?? '').join(' · ');
}
