// Shows a part of a page only to users who have the right to what it is for.
import type { ComponentChildren } from 'preact';
import { type Right, useMay } from '../lib/rights.js';
import { Button } from './basics.js';

export function Permitted({ to, children }: { to: Right; children: ComponentChildren }) {
  return useMay(to) ? children : null;
}

/** A button that only users with the right see. */
export function PermittedButton({ to, ...button }: { readonly to: Right } & Parameters<typeof Button>[0]) {
  return useMay(to) ? <Button {...button} /> : null;
}
