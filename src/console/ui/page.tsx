// The parts of a page itself: its heading, the way back, and what stands for a page that there is not.
import type { ComponentChildren } from 'preact';
import { listAddress } from '../lib/arrival.js';
import { type TextKey, t, textOf } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { Icon } from './icons.js';
import { Empty, type EmptyProps } from './states.js';

export function PageHead({ title, back, children }: PageHeadProps) {
  return (
    <header class="page-head">
      {back}
      <h1>{title}</h1>
      {children}
    </header>
  );
}

interface PageHeadProps {
  readonly title: string;
  /** The link to the page above this one. */
  readonly back?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function BackLink({ to, label }: { to: readonly string[]; label: string }) {
  return (
    <a class="button quiet icon-only" href={listAddress(to)} aria-label={label}>
      <Icon name="back" />
    </a>
  );
}

interface GoneProps extends Pick<EmptyProps, 'icon'> {
  readonly of: TextKey;
  readonly to: readonly string[];
  readonly back: TextKey;
}

/** Stands for an object or a page that there is not. @param of its text, and with `.text` what more is said */
export function Gone({ icon, of, to, back }: GoneProps) {
  const text = textOf(`${of}.text`);
  return (
    <Empty
      icon={icon}
      title={t(of)}
      {...(text ? { text } : {})}
      action={
        <a class="button" href={href(to)}>
          {t(back)}
        </a>
      }
    />
  );
}
