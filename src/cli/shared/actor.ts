// The actor of changes by the command line, for the audit log: the system user.
import { userInfo } from 'node:os';
import type { Actor } from '../../core/audit/audit.js';

export function cliActor(): Actor {
  return { name: userName(), via: 'cli', address: null };
}

/** In a container the user may have no entry in /etc/passwd. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
