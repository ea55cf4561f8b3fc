// The fields that say from where and when an account may log in.
import { t } from '../lib/i18n.js';
import { Area, Field, Input } from '../ui/form.js';

/** Splits a text as files of accounts are: at commas, semicolons, white space and line breaks. */
export function readAddresses(text: string): string[] {
  return text.split(/[\s,;，；、]+/).filter((entry) => entry !== '');
}

export function AllowedClientsField({ value, onInput }: { value: string; onInput: (text: string) => void }) {
  return (
    <Field label={t('account.allowedClients')} hint={t('account.allowedClients.hint')}>
      <Area mono value={value} onInput={onInput} rows={Math.min(6, Math.max(2, value.split('\n').length))} />
    </Field>
  );
}

export function ScheduleField({ value, onInput }: { value: string; onInput: (text: string) => void }) {
  return (
    <Field label={t('account.schedule')} hint={t('account.schedule.hint')}>
      <Input value={value} onInput={onInput} maxLength={255} />
    </Field>
  );
}
