// The rules of the players' PAC files: which destinations use the proxy. One rule per line, in order.
import type { PacRules } from '../api-types.js';
import { callWithEtag } from '../lib/api.js';
import { useDraft } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Button } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Area, Field, Segments } from '../ui/form.js';
import { Permitted } from '../ui/permitted.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';

const WAYS = ['proxy', 'direct'] as const;

export function PacSettings() {
  const saved = useLoad('getPacRules', {}, { topics: ['settings'] });
  const draft = useDraft({
    text: textOf(saved.data?.rules ?? []),
    otherwise: saved.data?.otherwise ?? 'proxy',
    etag: saved.etag,
  });
  const { busy, error, run } = useAction();
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={6} />;

  const { text, otherwise } = draft.values;
  const read = readRules(text);
  const save = () =>
    run(async () => {
      const { etag } = draft.base;
      const { answer, etag: next } = await callWithEtag('setPacRules', {
        body: { rules: read.rules, otherwise },
        etag,
      });
      notify(t('settings.saved'));
      saved.put(answer, next);
      draft.reset();
    });
  return (
    <form
      class="card stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (read.wrongLine === null) void save();
      }}
    >
      <h2>{t('pac.title')}</h2>
      <p class="soft">{t('pac.text')}</p>
      <Field
        label={t('pac.rules')}
        hint={t('pac.hint')}
        error={read.wrongLine === null ? undefined : t('pac.wrongLine', { line: read.wrongLine })}
      >
        <Area
          value={text}
          onInput={(next) => draft.set({ text: next })}
          rows={10}
          placeholder={'proxy *.game.example\ndirect 203.0.113.0/24'}
          mono
        />
      </Field>
      <div class="field">
        <span>{t('pac.otherwise')}</span>
        <Segments
          value={otherwise}
          label={t('pac.otherwise')}
          onChange={(next) => draft.set({ otherwise: next })}
          options={WAYS.map((value) => ({ value, label: t(`pac.${value}`) }))}
        />
      </div>
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Permitted to="setPacRules">
          <Button type="submit" kind="primary" disabled={!draft.isDirty || read.wrongLine !== null || busy}>
            {t('settings.save')}
          </Button>
        </Permitted>
        {draft.isDirty && <Button onClick={draft.reset}>{t('settings.undo')}</Button>}
      </div>
    </form>
  );
}

function textOf(rules: PacRules['rules']): string {
  return rules.map(({ match, via }) => `${via} ${match}`).join('\n');
}

/** Reads the rules of the lines that are not empty. `wrongLine` counts from 1. The daemon checks the matches themselves. */
function readRules(text: string): { rules: PacRules['rules']; wrongLine: number | null } {
  const rules: PacRules['rules'][number][] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, word, match] = /^\s*(proxy|direct)\s+(\S+)\s*$/i.exec(line) ?? [];
    const via = WAYS.find((way) => way === word?.toLowerCase());
    if (via === undefined || match === undefined) return { rules, wrongLine: index + 1 };
    rules.push({ match, via });
  }
  return { rules, wrongLine: null };
}
