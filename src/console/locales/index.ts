// Every text of the console: a file a page or topic, English and Chinese side by side.
import { access } from './access.js';
import { accounts } from './accounts.js';
import { audit } from './audit.js';
import { FIELD_TEXTS, LINE_TEXTS, REASON_TEXTS } from './daemon.zh-CN.js';
import { files } from './files.js';
import { frame } from './frame.js';
import { notices } from './notices.js';
import { plans } from './plans.js';
import { sessions } from './sessions.js';
import { settings } from './settings.js';
import { shared } from './shared.js';

export const TEXTS = {
  ...access,
  ...shared,
  ...frame,
  ...accounts,
  ...files,
  ...sessions,
  ...settings,
  ...notices,
  ...plans,
  ...audit,
} as const;

export const DAEMON_TEXTS = { field: FIELD_TEXTS, line: LINE_TEXTS, reason: REASON_TEXTS };
