// Shows a part of a page only to users who have the right to what it is for.
import type { ComponentChildren } from 'preact';
import { type Right, useMay } from '../lib/rights.js';

export function Permitted({ to, children }: { to: Right; children: ComponentChildren }) {
  return useMay(to) ? children : null;
}
