// Editing one account; refused when somebody else changed it meanwhile.
import { useState } from 'preact/hooks';
import type { Account, AccountLimitsChange } from '../api-types.js';
import { ApiError, call } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { Area, Checkbox, ExpiryField, Field } from '../ui/form.js';
import { Failure } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import { LimitFields } from './limits.js';

export function EditDialog({
  account,
  onClose,
  onDone,
}: {
  account: Account;
  onClose: () => void;
  onDone: () => void;
}) {
  // The page reads the account anew all the time; what is edited is the one that was opened.
  const [opened] = useState(account);
  const [remarks, setRemarks] = useState(opened.remarks ?? '');
  const [expiresAt, setExpiresAt] = useState(opened.expiresAt);
  const [isEnabled, setIsEnabled] = useState(opened.isEnabled);
  const [limits, setLimits] = useState<AccountLimitsChange>(opened.limits);
  const { busy, error, run } = useAction();
  const stale = error instanceof ApiError && error.code === 'changed-meanwhile';
  const submit = () =>
    run(async () => {
      await call('changeAccount', {
        params: { id: opened.id },
        body: { remarks: remarks.trim() === '' ? null : remarks, expiresAt, isEnabled, limits },
        // After the warning, saving again is meant.
        etag: stale ? account.etag : opened.etag,
      });
      notify(t('account.saved'));
      onDone();
    });
  return (
    <Dialog
      title={t('account.editTitle', { name: opened.username })}
      wide
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={busy}>
            {t(stale ? 'account.saveAnyway' : 'account.save')}
          </Button>
        </>
      }
    >
      <Field label={t('account.remarks')}>
        <Area value={remarks} onInput={setRemarks} rows={2} />
      </Field>
      <ExpiryField value={expiresAt} onChange={setExpiresAt} />
      <Checkbox checked={isEnabled} onChange={setIsEnabled}>
        {t('create.enabled')}
      </Checkbox>
      <h3>{t('limits.title')}</h3>
      <LimitFields value={limits} onChange={setLimits} />
      {error ? <Failure error={error} /> : null}
    </Dialog>
  );
}
