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
  // A notice replaces the one of the same kind: only numbers differ.
  const others = notices.get().filter((notice) => kindOf(notice.text) !== kindOf(text));
  notices.set([...others, { id, text, tone }]);
  setTimeout(() => notices.set(notices.get().filter((notice) => notice.id !== id)), SHOWN_MS);
}

const kindOf = (text: string): string => text.replaceAll(/\d+/g, '');

export function Toasts() {
  const list = useCell(notices);
  return (
    <div class="toasts stack near" role="status" aria-live="polite">
      {list.map((notice) => (
        <div key={notice.id} class={`toast ${notice.tone}`}>
          {notice.text}
        </div>
      ))}
    </div>
  );
}
