// Whether a new password also revokes the API tokens of its user. What stays valid otherwise is said.
import { t } from '../../../lib/i18n.js';
import { Checkbox } from '../../../ui/form.js';

export function RevokeTokens({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <div class="stack tight">
      <Checkbox checked={checked} onChange={onChange}>
        {label}
      </Checkbox>
      {!checked && <small class="warn-text">{t('admin.revokeTokens.off')}</small>}
    </div>
  );
}
