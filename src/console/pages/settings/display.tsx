// The display settings of this browser: language and theme.
import { useCell } from '../../lib/cell.js';
import { setLanguage, t, useLanguage } from '../../lib/i18n.js';
import { setTheme, type Theme, theme } from '../../lib/theme.js';
import { optionsOf, Segments } from '../../ui/form.js';
import { LANGUAGES } from '../../ui/switches.js';

export function LanguageChoice() {
  const language = useLanguage();
  return (
    <Segments value={language} options={LANGUAGES} onInput={setLanguage} label={t('display.language')} />
  );
}

export function ThemeChoice() {
  const options = optionsOf<Theme>(['system', 'light', 'dark'], (of) => t(`display.${of}`));
  return <Segments value={useCell(theme)} options={options} onInput={setTheme} label={t('display.theme')} />;
}
