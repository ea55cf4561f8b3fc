// Tabs that are links. Each tab has its own address.
import { useEffect, useRef } from 'preact/hooks';

interface Tab {
  readonly text: string;
  readonly link: string;
  readonly current: boolean;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const nav = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.current)?.link;
  // When the tabs do not fit, scrolls the current tab into view.
  useEffect(() => {
    const element = nav.current;
    const tab = element?.querySelector<HTMLElement>('[aria-current]');
    if (element && tab) element.scrollLeft = tab.offsetLeft - (element.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map((tab) => (
        <a key={tab.link} href={tab.link} aria-current={tab.current ? 'page' : undefined}>
          {tab.text}
        </a>
      ))}
    </nav>
  );
}
