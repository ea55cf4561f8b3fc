// The theme: light, dark, or that of the system.
import { cell } from './cell.js';

export type Theme = 'system' | 'light' | 'dark';
const STORED = 'pulsegate.theme';

export const theme = cell<Theme>(first());
/** The theme on the screen. Charts are drawn again when it changes. */
export const shownTheme = cell<'light' | 'dark'>('light');

const systemDark = matchMedia('(prefers-color-scheme: dark)');

function first(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(next: Theme): void {
  localStorage.setItem(STORED, next);
  theme.set(next);
  applyTheme();
}

export function applyTheme(): void {
  const chosen = theme.get();
  const shown = chosen === 'system' ? (systemDark.matches ? 'dark' : 'light') : chosen;
  document.documentElement.dataset['theme'] = shown;
  shownTheme.set(shown);
}
systemDark.addEventListener('change', applyTheme);
