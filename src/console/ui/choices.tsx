import type { ComponentChildren } from 'preact';
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
  const choose = (name: Name, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(name);
    else next.delete(name);
    onChoose(next);
  };
  return (
    <>
      {names.map((name) => (
        <div key={name} class="limit-field">
          <Checkbox checked={chosen.has(name)} onChange={(on) => choose(name, on)}>
            {labelOf(name)}
          </Checkbox>
          {chosen.has(name) && fieldOf(name)}
        </div>
      ))}
    </>
  );
}
