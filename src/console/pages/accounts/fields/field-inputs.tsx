// The inputs of fields in a form: of all that it is given, or of those that were ticked.
import { may } from '../../../lib/api.js';
import { toggled } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { Checkbox, Field } from '../../../ui/form.js';
import { accountField, type FieldName } from './account-fields.js';
import { type InputProps, useNamed } from './field-kinds.js';
import type { FieldTexts } from './field-texts.js';

interface FieldsProps<Name extends FieldName = FieldName> {
  readonly names: readonly Name[];
  readonly texts: Readonly<Record<Name, string>>;
  readonly onChange: (patch: Partial<FieldTexts>) => void;
}

interface AccountFieldsProps extends FieldsProps, Pick<InputProps, 'rows'> {
  /** CSS classes of a box around them; left out: no box. */
  readonly look?: string;
}

/** The inputs of these fields. */
export function AccountFields({ names, texts, onChange, rows, look }: AccountFieldsProps) {
  const inputs = useShown(names, texts).map((name) => (
    <FieldInput key={name} name={name} value={texts[name]} onChange={onChange} rows={rows} />
  ));
  return look ? <div class={look}>{inputs}</div> : inputs;
}

interface ChoicesProps extends FieldsProps {
  readonly chosen: ReadonlySet<FieldName>;
  readonly onChoose: (chosen: ReadonlySet<FieldName>) => void;
}

/** Fields that may stay unchanged: only a ticked one has an input. */
export function AccountFieldChoices({ names, texts, onChange, chosen, onChoose }: ChoicesProps) {
  return useShown(names, {}).map((name) => (
    <div key={name} class="stack close limit-field">
      <Checkbox checked={chosen.has(name)} onChange={(on) => onChoose(toggled(chosen, name, on))}>
        {labelOf(name)}
      </Checkbox>
      {chosen.has(name) && <FieldInput name={name} value={texts[name]} onChange={onChange} hideLabel />}
    </div>
  ));
}

/** Without egress classes or exits there is nothing to choose. */
function useShown(names: readonly FieldName[], texts: Partial<FieldTexts>): readonly FieldName[] {
  const classes = useNamed('egressClasses', texts.egressClass ?? '');
  const exits = useNamed('exits', texts.exit ?? '');
  return names.filter(
    (name) =>
      (name !== 'egressClass' || classes.length > 0) &&
      (name !== 'exit' || exits.length > 0) &&
      (!accountField(name).isEgress || may('egress:write')),
  );
}

interface FieldInputProps extends Pick<FieldsProps, 'onChange'> {
  readonly name: FieldName;
  readonly value: string;
  readonly rows?: number | undefined;
  readonly hideLabel?: boolean;
}

function FieldInput({ name, value, onChange, rows, hideLabel = false }: FieldInputProps) {
  const { read, Input: Control, isWhole, hint, wrong, group } = accountField(name);
  const input = <Control value={value} onInput={(typed) => onChange({ [name]: typed })} rows={rows} />;
  if (isWhole) return input;
  const error = wrong && read(value) === undefined ? t(wrong) : undefined;
  return (
    <Field
      path={group === 'contacts' ? `contacts.${name}` : name}
      label={labelOf(name)}
      hint={hint?.()}
      error={error}
      hideLabel={hideLabel}
    >
      {input}
    </Field>
  );
}

function labelOf(name: FieldName): string {
  const { label, unit } = accountField(name);
  return unit ? t('unit.note', { text: t(label), note: unit }) : t(label);
}
