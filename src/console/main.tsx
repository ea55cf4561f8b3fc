// Starts the console.
import { render } from 'preact';
import { App } from './app.js';
import { language, provideTexts } from './lib/i18n.js';
import { watchDaemon } from './lib/live.js';
import { applyTheme } from './lib/theme.js';
import { TEXTS } from './locales/index.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';

provideTexts(TEXTS);
document.documentElement.lang = language.get();
applyTheme();
watchDaemon();
const root = document.getElementById('app');
if (root) render(<App />, root);
