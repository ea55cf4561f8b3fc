// Short notices of finished actions. They disappear by themselves.
import { cell, useCell } from '../lib/cell.js';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}
const notices = cell<readonly Notice[]>([]);
let last = 0;
const SHOWN_MS = 5_000;

export function notify(text: string, tone: Notice['tone'] = 'good'): void {
  const id = ++last;
  notices.set([...notices.get(), { id, text, tone }]);
  setTimeout(() => notices.set(notices.get().filter((notice) => notice.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const list = useCell(notices);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map((notice) => (
        <div key={notice.id} class={`toast ${notice.tone}`}>
          {notice.text}
        </div>
      ))}
    </div>
  );
}
