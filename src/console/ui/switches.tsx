// Language and theme of this browser: buttons that switch with one press.
import { useCell } from '../lib/cell.js';
import { type Language, setLanguage, t, useLanguage } from '../lib/i18n.js';
import { setTheme, type Theme, theme } from '../lib/theme.js';
import { Button } from './basics.js';
import type { IconName } from './icons.js';
import { notify } from './toast.js';

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { 'zh-CN': '中文', en: 'English' };

const changeLanguage = (next: Language) =>
  void setLanguage(next).catch(() => notify(t('error.not-loaded'), 'bad'));

const NEXT: Readonly<Record<Theme, { readonly to: Theme; readonly icon: IconName }>> = {
  system: { to: 'light', icon: 'screen' },
  light: { to: 'dark', icon: 'sun' },
  dark: { to: 'system', icon: 'moon' },
};

export function Switches() {
  const other = useLanguage() === 'en' ? 'zh-CN' : 'en';
  const current = useCell(theme);
  return (
    <>
      <button type="button" class="button quiet" lang={other} onClick={() => changeLanguage(other)}>
        {LANGUAGE_NAMES[other]}
      </button>
      <Button
        icon={NEXT[current].icon}
        kind="quiet"
        label={`${t('display.theme')}: ${t(`display.${current}`)}`}
        onClick={() => setTheme(NEXT[current].to)}
      />
    </>
  );
}
