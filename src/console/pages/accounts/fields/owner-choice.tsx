// Chooses the owner of accounts: a seller, or the administrator. Only the administrator can change the owner.
import type { Operator } from '../../../api-types.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { useMay } from '../../../lib/rights.js';
import { SelectField } from '../../../ui/form.js';

/** Returns the sellers that can own accounts; none for a user who may not change the owner. */
export function useSellers(): readonly Operator[] {
  const { data } = useLoad('listOperators', useMay('listOperators') ? {} : null, { topics: ['settings'] });
  return data?.items.filter(({ role }) => role === 'seller') ?? [];
}

/** @param value id of a seller; '' is the administrator */
export function OwnerChoice({ value, onInput }: { value: string; onInput: (owner: string) => void }) {
  const sellers = useSellers();
  return (
    <SelectField
      label={t('operators.owner')}
      value={value}
      onInput={onInput}
      options={[
        { value: '', label: t('operators.administrator') },
        ...sellers.map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  );
}
