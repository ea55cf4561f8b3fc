// The icons: strokes in the colour of the text. A word or a label always accompanies an icon.
const PATHS = {
  overview: 'M3 13h4l3-8 4 14 3-6h4',
  accounts:
    'M8 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-6 9c0-3.3 2.7-6 6-6s6 2.7 6 6M16 4.2a4 4 0 0 1 0 6.6M22 20c0-2.6-1.6-4.8-4-5.6',
  sessions: 'M4 8h14m0 0-4-4m4 4-4 4M20 16H6m0 0 4 4m-4-4 4-4',
  heartbeats: 'M12 20s-8-4.7-8-11a4.5 4.5 0 0 1 8-2.8A4.5 4.5 0 0 1 20 9c0 6.3-8 11-8 11Z',
  traffic: 'M5 20v-7m7 7V4m7 16v-11',
  agents: 'M13 2 5 13h6l-1 9 8-12h-6l1-8Z',
  plans: 'M4 5h16v6H4zM4 15h16v4H4zM8 8h4m-4 9h4',
  operators: 'M12 3 5 6v5c0 4.5 2.9 8 7 10 4.1-2 7-5.5 7-10V6l-7-3Zm-3 8.5 2.2 2.2L15.5 9.5',
  events: 'M12 12h.01M8.5 15.5a5 5 0 0 1 0-7m7 0a5 5 0 0 1 0 7M5 19a10 10 0 0 1 0-14m14 0a10 10 0 0 1 0 14',
  audit: 'M6 3h9l4 4v14H6zM14 3v5h5M9 12h7m-7 4h7',
  settings:
    'M4 7h10m4 0h2M4 17h2m4 0h10M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  columns: 'M3 5h18v14H3zM9 5v14M15 5v14',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  check: 'M4 12.5 9.5 18 20 6.5',
  warn: 'M12 4 2.5 20h19L12 4Zm0 6v5m0 2.5v.5',
  up: 'M12 19V5m0 0-6 6m6-6 6 6',
  down: 'M12 5v14m0 0 6-6m-6 6-6-6',
  back: 'M15 5l-7 7 7 7',
  upload: 'M12 16V4m0 0L7 9m5-5 5 5M4 20h16',
  download: 'M12 4v12m0 0 5-5m-5 5-5-5M4 20h16',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.5 1.5m11 11L19 19M5 19l1.5-1.5m11-11L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z',
  screen: 'M3 5h18v11H3zM9 20h6m-3-4v4',
  exit: 'M10 4H5v16h5M10 12h11m0 0-4-4m4 4-4 4',
  keyboard: 'M3 6h18v12H3zM7 10h.01M12 10h.01M17 10h.01M7 14h10',
  send: 'M21 3 3 10.5l7 3.5 3.5 7L21 3Zm-11 11 4-4',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7V5Z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  refresh: 'M20 11a8 8 0 0 0-14.5-4L3 9m0-5v5h5M4 13a8 8 0 0 0 14.5 4L21 15m0 5v-5h-5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
