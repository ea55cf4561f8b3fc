// A menu below a button, which closes on a press outside it, on Esc, and when one of its items calls `close`; and the tabs of a page.
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type TextKey, t } from '../lib/i18n.js';
import { href, usePlace } from '../lib/router.js';
import { Button, type ButtonProps } from './basics.js';

const CloseMenu = createContext(() => {});

/** A button in a menu, which it closes before it acts. */
export function MenuItem({ kind = 'link', onClick, ...button }: ButtonProps) {
  const close = useContext(CloseMenu);
  const act = () => {
    close();
    onClick?.();
  };
  return <Button kind={kind} {...button} onClick={act} />;
}

interface MenuProps {
  readonly look: string;
  readonly summaryLook: string;
  /** Names a button that shows only an icon. */
  readonly label?: string;
  readonly summary: ComponentChildren;
  /** A function gets `close`, for what is no `MenuItem`. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

export function Menu({ look, summaryLook, label, summary, children }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    if (box.current) box.current.open = false;
  };
  useEffect(() => {
    const closeOn = (event: Event) => {
      const isKey = event instanceof KeyboardEvent;
      const details = box.current;
      if (!details?.open || (isKey ? event.key !== 'Escape' : details.contains(event.target as Node))) return;
      close();
      if (isKey) details.querySelector('summary')?.focus();
    };
    const listening = new AbortController();
    for (const event of ['pointerdown', 'keydown'])
      document.addEventListener(event, closeOn, { signal: listening.signal });
    return () => listening.abort();
  }, []);
  return (
    <details class={look} ref={box} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class={summaryLook} aria-label={label} title={label}>
        {summary}
      </summary>
      {isOpen && (
        <CloseMenu.Provider value={close}>
          {typeof children === 'function' ? children(close) : children}
        </CloseMenu.Provider>
      )}
    </details>
  );
}

interface TabsProps {
  /** The path of the page. */
  readonly of: string;
  readonly label: string;
  /** By the path below that of the page: '' is the page itself, and what any other path shows. */
  readonly tabs: Readonly<Record<string, TextKey>>;
}

export function Tabs({ of, label, tabs }: TabsProps) {
  const nav = useRef<HTMLElement>(null);
  const { path } = usePlace();
  const current = Object.hasOwn(tabs, path[1] ?? '') ? path[1] : '';
  // When the tabs do not fit, scrolls the current tab into view.
  useEffect(() => {
    const element = nav.current;
    const tab = element?.querySelector<HTMLElement>('[aria-current]');
    if (element && tab) element.scrollLeft = tab.offsetLeft - (element.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {Object.entries(tabs).map(([tab, text]) => (
        <a key={tab} href={href(tab ? [of, tab] : [of])} aria-current={tab === current ? 'page' : undefined}>
          {t(text)}
        </a>
      ))}
    </nav>
  );
}
