// Tiles: a value each, and below it what it is made of, with a link to the list of each.
import { type TextKey, t } from '../../lib/i18n.js';

type Linked = readonly [text: string, link?: string];
export type Tile = readonly [label: TextKey, value: Linked, below: Linked];

const linked = ([text, link]: Linked) => (link ? <a href={link}>{text}</a> : text);

export function Tiles({ of }: { of: readonly Tile[] }) {
  return (
    <dl class={of.length === 4 ? 'tiles four' : 'tiles'}>
      {of.map(([label, value, below]) => (
        <div key={label} class="tile">
          <dt>{t(label)}</dt>
          <dd class="big number">{linked(value)}</dd>
          <dd class="soft number">{linked(below)}</dd>
        </div>
      ))}
    </dl>
  );
}
