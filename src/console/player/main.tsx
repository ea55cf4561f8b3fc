// Starts the player page.
import { render } from 'preact';
import { language, showLanguage } from '../lib/i18n.js';
import { applyTheme } from '../lib/theme.js';
import '../styles/base.css';
import '../styles/parts.css';
import './player.css';
import { PlayerPage } from './page.js';

applyTheme();
await showLanguage(language.get());
const root = document.getElementById('app');
if (root) render(<PlayerPage />, root);
