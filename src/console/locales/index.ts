// Every text of the console: a file a page or topic, English and Chinese side by side.
import { accounts } from './accounts.js';
import { admin } from './admin.js';
import { agents } from './agents.js';
import { api } from './api.js';
import { audit } from './audit.js';
import { budget } from './budget.js';
import { bulk } from './bulk.js';
import { create } from './create.js';
import { display } from './display.js';
import { errors } from './errors.js';
import { files } from './files.js';
import { formats } from './formats.js';
import { frame } from './frame.js';
import { games } from './games.js';
import { heartbeats } from './heartbeats.js';
import { limits } from './limits.js';
import { lists } from './lists.js';
import { log } from './log.js';
import { nodes } from './nodes.js';
import { notices } from './notices.js';
import { operators } from './operators.js';
import { overview } from './overview.js';
import { pac } from './pac.js';
import { plans } from './plans.js';
import { playerLink } from './player-link.js';
import { publicAddress } from './public-address.js';
import { sessions } from './sessions.js';
import { settings } from './settings.js';
import { signingIn } from './signing-in.js';
import { tags } from './tags.js';
import { tokens } from './tokens.js';
import { units } from './units.js';
import { whitelist } from './whitelist.js';

export const TEXTS = {
  ...frame,
  ...units,
  ...signingIn,
  ...errors,
  ...lists,
  ...overview,
  ...accounts,
  ...create,
  ...formats,
  ...files,
  ...bulk,
  ...budget,
  ...limits,
  ...sessions,
  ...heartbeats,
  ...agents,
  ...settings,
  ...display,
  ...log,
  ...nodes,
  ...notices,
  ...publicAddress,
  ...pac,
  ...plans,
  ...playerLink,
  ...whitelist,
  ...admin,
  ...games,
  ...tokens,
  ...operators,
  ...tags,
  ...audit,
  ...api,
} as const;
