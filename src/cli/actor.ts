// Who changes something by the command line: the system user, as the audit log names one.
import { userInfo } from 'node:os';
import type { Actor } from '../core/audit/audit.js';

export function cliActor(): Actor {
  return { name: userName(), via: 'cli', address: null };
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
