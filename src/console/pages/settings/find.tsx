// The search of the settings: by label, words in either language, and key of the configuration; and the focus on what was found.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { may } from '../../lib/api.js';
import { inFrames } from '../../lib/arrival.js';
import { inEveryLanguage, isTextKey, type TextKey, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, patchQuery, usePlace } from '../../lib/router.js';
import { Icon } from '../../ui/icons.js';
import { settingsToFind } from './sections.js';

const MOST = 40;

/** @param children what is shown while nothing is searched for */
export function FindSettings({ children }: { children: ComponentChildren }) {
  const [typed, setTyped] = useState('');
  const asked = typed.trim().toLowerCase();
  const hits = useHits(asked);
  return (
    <search class="find stack">
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          data-search
          value={typed}
          placeholder={t('settings.find')}
          aria-label={t('settings.find')}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setTyped('');
            else if (event.key === 'Enter')
              event.currentTarget.closest('search')?.querySelector('a')?.click();
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </div>
      {hits?.length === 0 && <p role="status">{t('settings.find.none')}</p>}
      {asked === '' && children}
      <ul class="hits">
        {hits?.map(({ label, where, key, link }) => (
          <li key={link}>
            <a href={link} onClick={() => setTyped('')}>
              <span class="strong">{label}</span>
              <span class="soft">{where}</span>
              {key !== '' && <code>{key}</code>}
            </a>
          </li>
        ))}
      </ul>
    </search>
  );
}

/** Returns what matches every word; null while the texts of both languages are loaded. Labels that begin with the words come first. */
function useHits(asked: string) {
  const [texts, setTexts] = useState<Awaited<ReturnType<typeof inEveryLanguage>> | null>(null);
  const isAsking = asked !== '';
  useEffect(() => {
    if (isAsking) void inEveryLanguage().then(setTexts, () => setTexts([]));
  }, [isAsking]);
  const config = useLoad('getEffectiveConfig', isAsking && may('getEffectiveConfig') ? {} : null).data;
  if (!texts || !isAsking) return null;
  const settings = settingsToFind().map(({ text, where, key, link }) => {
    const names: readonly TextKey[] = [text, ...where];
    const inOthers = texts.flatMap((each) => names.map((name) => each[name]));
    const own = names.map((name) => t(name));
    const words = [...own, ...inOthers, key].join('\n').toLowerCase();
    return { label: t(text), where: where.map((name) => t(name)).join(' › '), key, link, words };
  });
  const known = new Set(settings.map(({ key }) => key));
  const keys = (config?.entries ?? [])
    .filter(({ path }) => !known.has(path))
    .map(({ path }) => ({
      label: path,
      where: t('settings.effective'),
      key: '',
      link: href(['settings', 'effective'], { field: path }),
      words: path.toLowerCase(),
    }));
  const parts = asked.split(/\s+/);
  const isFirst = ({ label, key }: (typeof settings)[number]) =>
    [label, key].some((name) => name.toLowerCase().startsWith(asked));
  return [...settings, ...keys]
    .filter(({ words }) => parts.every((part) => words.includes(part)))
    .sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
    .slice(0, MOST);
}

/** How long a page may take until it shows the field. */
const WAIT_MS = 10_000;

/** Moves the focus to the field that the address names: by its label, or by its key in the configuration. */
export function useFoundField(): void {
  const asked = usePlace().query.get('field');
  useEffect(() => {
    if (asked === null) return;
    const label = isTextKey(asked) ? t(asked) : asked;
    // From the next frame on: the arrival on the page moves the focus to its heading first.
    return inFrames(WAIT_MS, () => {
      const field = fieldWith(label);
      if (!field) return false;
      focusOn(field);
      patchQuery({ field: null });
      return true;
    });
  }, [asked]);
}

const NAMES = ['.field > span', 'legend', 'h2', 'button', 'a.button', '.checkbox > span', 'tr code'];

function fieldWith(label: string): HTMLElement | undefined {
  const named = [...document.querySelectorAll<HTMLElement>(NAMES.map((name) => `main ${name}`).join())].find(
    (each) => each.textContent?.trim() === label,
  );
  if (!named || named.matches('button, a')) return named;
  const field = named.closest('.field, .checkbox, fieldset');
  return field?.querySelector<HTMLElement>('input, textarea, select, button') ?? named.closest('tr') ?? named;
}

function focusOn(field: HTMLElement): void {
  if (!field.matches('a, input, textarea, select, button')) field.tabIndex = -1;
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: 'center' });
}
