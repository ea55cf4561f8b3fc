// The rules of the players' PAC files: which destinations use the proxy. One rule per line, in order.
import type { PacRules } from '../../api-types.js';
import { callWithEtag } from '../../lib/api.js';
import { type Draft, useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { AreaField, SegmentsField } from '../../ui/form.js';
import { type Overtaken, SettingsForm, useSaving } from '../../ui/settings-form.js';
import { WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

const WAYS = ['proxy', 'direct'] as const;

interface Fields {
  readonly text: string;
  readonly otherwise: PacRules['otherwise'];
  readonly etag: string | null;
}

export function PacSettings() {
  const saved = useLoad('getPacRules', {}, { topics: ['settings'] });
  const draft = useDraft<Fields>({
    text: textOf(saved.data?.rules ?? []),
    otherwise: saved.data?.otherwise ?? 'proxy',
    etag: saved.etag,
  });
  const { control } = draft;
  const saving = useSaving(() => callWithEtag('getPacRules'));
  const theirs = saving.theirs;
  const { text, otherwise } = draft.values;
  const read = readRules(text);
  const save = async () => {
    const { changes } = draft;
    const body = {
      rules: theirs && changes.text === undefined ? theirs.answer.rules : read.rules,
      otherwise: changes.otherwise ?? theirs?.answer.otherwise ?? otherwise,
    };
    const { answer, etag } = await callWithEtag('setPacRules', { body, etag: (theirs ?? draft.base).etag });
    notify(t('settings.saved'));
    saved.put(answer, etag);
    draft.reset();
  };
  return (
    <WhenLoaded of={saved} rows={6} keeps>
      {() => (
        <SettingsForm
          draft={draft}
          work={saving}
          right="setPacRules"
          isValid={read.wrongLine === null}
          save={save}
          conflict={theirs && overtaken(draft, theirs.answer)}
        >
          <h2>{t('pac.title')}</h2>
          <p class="soft">{t('pac.text')}</p>
          <AreaField
            path="match"
            label={t('pac.rules')}
            hint={t('pac.hint')}
            error={read.wrongLine === null ? undefined : t('pac.wrongLine', { line: read.wrongLine })}
            {...control('text')}
            rows={10}
            placeholder={'proxy *.game.example\ndirect 203.0.113.0/24'}
            mono
          />
          <SegmentsField
            {...control('otherwise')}
            label={t('pac.otherwise')}
            options={WAYS.map((value) => ({ value, label: t(`pac.${value}`) }))}
          />
        </SettingsForm>
      )}
    </WhenLoaded>
  );
}

function overtaken({ base, changes }: Draft<Fields>, { rules, otherwise }: PacRules): readonly Overtaken[] {
  const text = textOf(rules);
  return [
    {
      label: t('pac.rules'),
      theirs: text === base.text ? null : text || '—',
      mine: changes.text === undefined ? null : changes.text || '—',
    },
    {
      label: t('pac.otherwise'),
      theirs: otherwise === base.otherwise ? null : t(`pac.${otherwise}`),
      mine: changes.otherwise === undefined ? null : t(`pac.${changes.otherwise}`),
    },
  ].filter(({ theirs, mine }) => theirs !== null || mine !== null);
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
