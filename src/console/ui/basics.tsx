// The small components of every page.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Login } from '../api-types.js';
import { type Right, useMay } from '../lib/api.js';
import * as format from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { Icon, type IconName } from './icons.js';
import { notify } from './toast.js';

/** A link looks like one, and acts as a button. */
export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet' | 'chip' | 'link' | 'link danger';

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly onClick?: () => void;
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly disabled?: boolean;
  readonly type?: 'button' | 'submit';
  /** For a button that shows only its icon. */
  readonly label?: string | undefined;
  readonly pressed?: boolean;
  /** Further CSS classes. */
  readonly look?: string;
}

export function Button(props: ButtonProps) {
  const { children, onClick, kind = 'plain', icon, disabled, type = 'button', label, pressed, look } = props;
  const classes = [/^(link|chip)/.test(kind) ? '' : 'button', kind, children ? '' : 'icon-only', look];
  return (
    <button
      type={type}
      class={classes.filter(Boolean).join(' ')}
      onClick={onClick}
      disabled={disabled ?? false}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A part of a page for users who have the right to what it is for. */
export function Permitted({ to, children }: { to: Right; children: ComponentChildren }) {
  return useMay(to) ? children : null;
}

export function PermittedButton({ to, ...button }: { readonly to: Right } & ButtonProps) {
  return useMay(to) ? <Button {...button} /> : null;
}

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'none';

/** A state: a shape and a word, so that colour is never the only sign. */
export function State({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  );
}

/** Pieces of one line. A piece moves to the next line as a whole, so that no number is parted from its unit. */
export function Pieces({ of, between }: { of: readonly string[]; between: string }) {
  return of.map((piece, i) => (
    <span key={piece}>
      <span class="piece">
        {piece}
        {i < of.length - 1 && between.trimEnd()}
      </span>
      {/\s$/.test(between) && ' '}
    </span>
  ));
}

export function Tag({ children }: { children: ComponentChildren }) {
  return <span class="tag">{children}</span>;
}

export const None = () => <span class="faint">—</span>;

/** Shows how much of a limit is used, as a number beside a bar. */
export function Meter({ value, max, label }: { value: number; max: number; label: string }) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'fine';
  return (
    <span
      class={`meter ${tone}`}
      role="meter"
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-label={label}
    >
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** A client's address after its country, or the number of its network. The hover text of these says all that is known. */
export function Client({ of }: { of: Pick<Login, 'client' | 'clientOrigin'> }) {
  const { client: address, clientOrigin: origin } = of;
  const { country = null, asn = null, network = null } = origin ?? {};
  const number = asn === null ? null : `AS${asn}`;
  return (
    <span class="number">
      {origin && (
        <span
          class="faint"
          title={[country && format.countryName(country), number, network].filter(Boolean).join('\n')}
        >
          {country?.toUpperCase() ?? number ?? network}{' '}
        </span>
      )}
      {address}
    </span>
  );
}

export function AccountLink({ id, name, inTabOrder = true }: AccountLinkProps) {
  return (
    <a class="strong" href={href(['accounts', id])} tabIndex={inTabOrder ? undefined : -1}>
      {name}
    </a>
  );
}

interface AccountLinkProps {
  readonly id: string;
  readonly name: string;
  /** Left out: true. Not needed where Enter on the row leads there too. */
  readonly inTabOrder?: boolean;
}

export function Card({ title, actions, look, children, label }: CardProps) {
  return (
    <section class={look ? `card ${look}` : 'card'} aria-label={label}>
      {actions === undefined ? (
        <h2>{title}</h2>
      ) : (
        <header class="row">
          <h2 class="grow">{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

interface CardProps {
  readonly title: ComponentChildren;
  /** Stand at the end of the line of the title. */
  readonly actions?: ComponentChildren;
  readonly look?: string;
  readonly label?: string;
  readonly children: ComponentChildren;
}

type Fact = readonly [label: ComponentChildren, value: ComponentChildren, look?: string];

/** A list of facts. false and null: there is no such fact. */
export function Facts({ of }: { of: readonly (Fact | false | null)[] }) {
  return (
    <dl class="facts">
      {of.map(
        (fact) =>
          fact && (
            <>
              <dt>{fact[0]}</dt>
              <dd class={fact[2]}>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}

/** A moment as "3 min ago". The hover text is its full time in both time zones. */
export function Ago({ at }: { at: string | null }) {
  useRedraw();
  if (at === null) return <None />;
  return (
    <time dateTime={at} title={`${format.localTime(at)}\n${format.utcTime(at)}`}>
      {format.ago(at)}
    </time>
  );
}

/** A moment in the viewer's time zone. The hover text is the UTC time. */
export function At({ at }: { at: string | null }) {
  if (at === null) return <None />;
  return (
    <time class="number" dateTime={at} title={format.utcTime(at)}>
      {format.localTime(at)}
    </time>
  );
}

/** When an account expires. `short` is for a column whose head says "expires". */
export function Expiry({ at, short = false }: { at: string | null; short?: boolean }) {
  useRedraw();
  const show = short ? format.expiryShort : format.expiry;
  if (at === null) return <span class="faint">{show(null)}</span>;
  const remainingMs = Date.parse(at) - Date.now();
  const tone = remainingMs <= 0 ? 'bad-text' : remainingMs < 3 * format.DAY ? 'warn-text' : '';
  return (
    <time class={tone} dateTime={at} title={`${format.localTime(at)}\n${format.utcTime(at)}`}>
      {show(at)}
    </time>
  );
}

export function Traffic({ up, down, perSecond = false }: { up: number; down: number; perSecond?: boolean }) {
  const show = perSecond ? format.rate : format.bytes;
  if (up === 0 && down === 0) return <None />;
  return (
    <span class="traffic number">
      <span title={t('traffic.down')}>↓ {show(down)}</span>{' '}
      <span class="soft" title={t('traffic.up')}>
        ↑ {show(up)}
      </span>
    </span>
  );
}

interface ScrollBoxProps {
  readonly label: string;
  readonly look?: string;
  readonly children: ComponentChildren;
}

/** A scrollable box, also scrollable by keyboard. */
export function ScrollBox({ label, look = 'scroll', children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and a keyboard must be able to
    <div class={look} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  readonly kind?: 'quiet' | 'primary';
  readonly onCopied?: () => void;
}

export function CopyButton({ text, label, kind = 'quiet', onCopied }: CopyButtonProps) {
  const copy = () => {
    copyText(text).then(
      () => {
        notify(t('copy.done'));
        onCopied?.();
      },
      () => notify(t('copy.failed'), 'bad'),
    );
  };
  return (
    <Button icon="copy" kind={kind} onClick={copy} label={label ?? t('copy.copy')}>
      {label}
    </Button>
  );
}

export function Copied({ text, isPassword }: { text: string; isPassword?: boolean }) {
  return (
    <>
      <code class="whole" data-password={isPassword}>
        {text}
      </code>{' '}
      <CopyButton text={text} />
    </>
  );
}

/** The clipboard API needs HTTPS or localhost. Elsewhere this function copies a selection with `execCommand`. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('not copied');
}

const REDRAW_MS = 20_000;

/** Renders the component again every `REDRAW_MS`, so that "3 min ago" stays current. */
function useRedraw(): void {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), REDRAW_MS);
    return () => clearInterval(timer);
  }, []);
}

/** Returns the width of the window in px, and renders again when it changes. */
export function useWidth(): number {
  const [width, setWidth] = useState(innerWidth);
  useEffect(() => {
    const measure = () => setWidth(innerWidth);
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  return width;
}
