// Closes a menu (an open <details>) on a press outside it and on Esc.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

export function useMenu(box: RefObject<HTMLDetailsElement | null>): void {
  useEffect(() => {
    const close = (event: Event) => {
      const isKey = event instanceof KeyboardEvent;
      const details = box.current;
      if (!details?.open || (isKey ? event.key !== 'Escape' : details.contains(event.target as Node))) return;
      details.open = false;
      if (isKey) details.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, [box]);
}
