// The rights of the signed-in user, as the API tells them. What the user may not do is not shown, by one rule for all pages:
// `Permitted` for a part of a page, `useMay` for everything else.
import type { Me, Operations, Scope } from '../api-types.js';
import { lapsed, me } from './api.js';
import { useCell } from './cell.js';

/** An operation of the API, or the scope that one field of an operation needs. */
export type Right = keyof Operations | Scope;

/** After a session ended, the user of that session: forms keep their contents until somebody signs in again. */
const user = (): Me | null => me.get() ?? lapsed.get();

export function may(right: Right): boolean {
  const who = user();
  return who !== null && (who.operations.includes(right) || isScope(right, who.scopes));
}

function isScope(right: Right, scopes: readonly Scope[] | null): boolean {
  // The names of scopes have a colon, those of operations have none.
  return right.includes(':') && (scopes === null || scopes.includes(right as Scope));
}

/** Like `may`, and renders the component again when somebody else signs in. */
export function useMay(right?: Right): boolean {
  useUser();
  return right === undefined || may(right);
}

/** Returns the signed-in user; after a session ended, the user of that session. */
export function useUser(): Me | null {
  useCell(me);
  return user();
}
