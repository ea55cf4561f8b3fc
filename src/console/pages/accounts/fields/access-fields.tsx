// The fields that say from where and when an account may log in.
import type { Account } from '../../../api-types.js';
import { t } from '../../../lib/i18n.js';
import { useUser } from '../../../lib/rights.js';
import { scheduleWords } from '../../../lib/schedule.js';
import { Choices } from '../../../ui/choices.js';
import { Area, Field, Input } from '../../../ui/form.js';

type Access = Pick<Account, 'allowedClients' | 'schedule'>;
export type AccessName = keyof Access;
export const ACCESS_NAMES = ['allowedClients', 'schedule'] as const satisfies readonly AccessName[];

/** The fields as typed; an empty one means everywhere, or always. */
export type AccessTexts = Readonly<Record<AccessName, string>>;
export const NO_ACCESS_TEXTS: AccessTexts = { allowedClients: '', schedule: '' };

/** Returns the fields that the texts describe; a text that is undefined stays out. */
export function readAccess({ allowedClients, schedule }: Partial<AccessTexts>): Partial<Access> {
  return {
    ...(allowedClients === undefined ? {} : { allowedClients: readAddresses(allowedClients) }),
    ...(schedule === undefined ? {} : { schedule: schedule.trim() || null }),
  };
}

/** What a field allows, in words. */
export function accessWords(name: AccessName, access: Access): string {
  if (name === 'schedule')
    return access.schedule === null ? t('account.schedule.always') : scheduleWords(access.schedule);
  return access.allowedClients.join(', ') || t('account.allowedClients.all');
}

/** Splits a text as files of accounts are: at commas, semicolons, white space and line breaks. */
export function readAddresses(text: string): string[] {
  return text.split(/[\s,;，；、]+/).filter((entry) => entry !== '');
}

interface FieldProps {
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly hideLabel?: boolean;
}

export function AllowedClientsField({ value, onInput, hideLabel = false }: FieldProps) {
  return (
    <Field
      path="allowedClients"
      label={t('account.allowedClients')}
      hint={t('account.allowedClients.hint')}
      hideLabel={hideLabel}
    >
      <Area mono value={value} onInput={onInput} rows={Math.min(6, Math.max(2, value.split('\n').length))} />
    </Field>
  );
}

export function ScheduleField({ value, onInput, hideLabel = false }: FieldProps) {
  const zone = useUser()?.timeZone ?? '';
  return (
    <Field
      path="schedule"
      label={t('account.schedule')}
      hint={t('account.schedule.hint', { zone })}
      hideLabel={hideLabel}
    >
      <Input value={value} onInput={onInput} maxLength={255} />
    </Field>
  );
}

/** Fields that may stay unchanged: only a ticked one has a field. */
export function AccessChoices({
  texts,
  onChange,
  chosen,
  onChoose,
}: {
  readonly texts: AccessTexts;
  readonly onChange: (patch: Partial<AccessTexts>) => void;
  readonly chosen: ReadonlySet<AccessName>;
  readonly onChoose: (chosen: ReadonlySet<AccessName>) => void;
}) {
  const fields = {
    allowedClients: (
      <AllowedClientsField
        value={texts.allowedClients}
        onInput={(allowedClients) => onChange({ allowedClients })}
        hideLabel
      />
    ),
    schedule: (
      <ScheduleField value={texts.schedule} onInput={(schedule) => onChange({ schedule })} hideLabel />
    ),
  };
  return (
    <Choices
      names={ACCESS_NAMES}
      labelOf={(name) => t(`account.${name}`)}
      chosen={chosen}
      onChoose={onChoose}
      fieldOf={(name) => fields[name]}
    />
  );
}
