// Starts the player page.
import { render } from 'preact';
import { language, provideTexts } from '../lib/i18n.js';
import { applyTheme } from '../lib/theme.js';
import { PLAYER_TEXTS } from '../locales/player.js';
import '../styles/base.css';
import '../styles/parts.css';
import './player.css';
import { PlayerPage } from './page.js';

provideTexts(PLAYER_TEXTS);
document.documentElement.lang = language.get();
applyTheme();
const root = document.getElementById('app');
if (root) render(<PlayerPage />, root);
