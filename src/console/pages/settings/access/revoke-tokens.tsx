// Whether a new password also revokes the API tokens of its user. What stays valid otherwise is said.
import { t } from '../../../lib/i18n.js';
import { Checkbox } from '../../../ui/form.js';

interface RevokeTokensProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function RevokeTokens({ label, checked, onChange }: RevokeTokensProps) {
  return (
    <div class="stack tight">
      <Checkbox checked={checked} onChange={onChange}>
        {label}
      </Checkbox>
      {!checked && <small class="warn-text">{t('admin.revokeTokens.off')}</small>}
    </div>
  );
}
