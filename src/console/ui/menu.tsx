// A menu below a button: it closes on a press outside it, on Esc, and when its owner calls `close`.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  readonly look: string;
  readonly summaryLook: string;
  /** Names a button that shows only an icon. */
  readonly label?: string;
  readonly summary: ComponentChildren;
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

export function Menu({ look, summaryLook, label, summary, children }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null);
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
    document.addEventListener('pointerdown', closeOn);
    document.addEventListener('keydown', closeOn);
    return () => {
      document.removeEventListener('pointerdown', closeOn);
      document.removeEventListener('keydown', closeOn);
    };
  }, []);
  return (
    <details class={look} ref={box}>
      <summary class={summaryLook} aria-label={label} title={label}>
        {summary}
      </summary>
      {typeof children === 'function' ? children(close) : children}
    </details>
  );
}
