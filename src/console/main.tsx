// Starts the console.
import { render } from 'preact';
import { App, loadPage } from './app.js';
import { language, showLanguage } from './lib/i18n.js';
import { watchDaemon } from './lib/load.js';
import { applyTheme } from './lib/theme.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';

const texts = showLanguage(language.get());
loadPage();
applyTheme();
watchDaemon();
await texts;
const root = document.getElementById('app');
if (root) render(<App />, root);
