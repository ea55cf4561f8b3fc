// The foot of the rail: who is signed in, and language, theme and the way out, one press each.
import type { Me } from './api-types.js';
import { signOut } from './lib/api.js';
import { useCell } from './lib/cell.js';
import { setLanguage, t, useLanguage } from './lib/i18n.js';
import { setTheme, type Theme, theme } from './lib/theme.js';
import { leave } from './lib/unsaved.js';
import { LANGUAGES } from './pages/settings-display.js';
import { Button } from './ui/basics.js';
import { useAction } from './ui/dialog.js';
import type { IconName } from './ui/icons.js';

/** What one press leads to: from the system's to light, dark, and back. */
const NEXT: Readonly<Record<Theme, { readonly to: Theme; readonly icon: IconName }>> = {
  system: { to: 'light', icon: 'screen' },
  light: { to: 'dark', icon: 'sun' },
  dark: { to: 'system', icon: 'moon' },
};

export function RailFoot({ who }: { who: Me }) {
  const language = useLanguage();
  const current = useCell(theme);
  const { busy, run } = useAction();
  const other = language === 'en' ? 'zh-CN' : 'en';
  return (
    <div class="rail-foot soft">
      <span class="rail-who">
        <span>{who.username}</span>
        <span class="number">
          {who.address} · v{who.version}
        </span>
      </span>
      <div class="rail-tools">
        <button type="button" class="button quiet" lang={other} onClick={() => setLanguage(other)}>
          {LANGUAGES.find(({ value }) => value === other)?.label}
        </button>
        <Button
          icon={NEXT[current].icon}
          kind="quiet"
          label={`${t('display.theme')}: ${t(`display.${current}`)}`}
          onClick={() => setTheme(NEXT[current].to)}
        />
        <Button
          icon="exit"
          kind="quiet"
          disabled={busy}
          label={t('display.signOut')}
          onClick={() => leave(() => void run(signOut))}
        />
      </div>
    </div>
  );
}
