import type { ComponentChildren } from 'preact';
import { toggled } from '../lib/draft.js';
import { Checkbox } from './form.js';

/** Fields that may stay unchanged, one after another: each has a checkbox, and only a ticked one shows its field. */
export function Choices<Name extends string>({
  names,
  labelOf,
  chosen,
  onChoose,
  fieldOf,
}: {
  readonly names: readonly Name[];
  readonly labelOf: (name: Name) => string;
  readonly chosen: ReadonlySet<Name>;
  readonly onChoose: (chosen: ReadonlySet<Name>) => void;
  readonly fieldOf: (name: Name) => ComponentChildren;
}) {
  return (
    <>
      {names.map((name) => (
        <div key={name} class="limit-field">
          <Checkbox checked={chosen.has(name)} onChange={(on) => onChoose(toggled(chosen, name, on))}>
            {labelOf(name)}
          </Checkbox>
          {chosen.has(name) && fieldOf(name)}
        </div>
      ))}
    </>
  );
}
