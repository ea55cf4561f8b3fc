// Tabs that are links: each has its own address.
interface Tab {
  readonly text: string;
  readonly link: string;
  readonly current: boolean;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.link} href={tab.link} aria-current={tab.current ? 'page' : undefined}>
          {tab.text}
        </a>
      ))}
    </nav>
  );
}
