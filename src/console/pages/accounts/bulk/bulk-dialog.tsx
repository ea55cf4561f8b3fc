// A bulk action on accounts: choose the action, preview the changes and the skipped accounts, then run it.
import { useState } from 'preact/hooks';
import type { AccountFilterBody, BulkRequest, BulkResult } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { usePreview } from '../../../lib/load.js';
import { type DialogOf, FormDialog } from '../../../ui/dialog.js';
import { Field, Input } from '../../../ui/form.js';
import { Failure, Skeleton } from '../../../ui/states.js';
import { notify } from '../../../ui/toast.js';
import { BulkFields, NOTHING_GIVEN, toAction } from './bulk-fields.js';
import { type BulkActionType, Preview } from './bulk-preview.js';

type Target = { readonly ids: readonly string[] } | { readonly filter: AccountFilterBody };

interface BulkDialogProps extends DialogOf<Target, BulkResult> {
  readonly type: BulkActionType;
}

export function BulkDialog({ type, of: target, onClose, onDone }: BulkDialogProps) {
  const [given, setGiven] = useState(NOTHING_GIVEN);
  const [typed, setTyped] = useState('');
  const action = toAction(type, given);
  const {
    result: preview,
    error,
    pending,
  } = usePreview<BulkRequest, BulkResult>(
    action && { ...target, action, dryRun: true },
    (body, signal) => call('changeAccounts', { body, signal }),
    200,
  );
  const mustType = type === 'delete' && preview !== null && preview.count > 0 ? String(preview.count) : null;
  const ready =
    action !== null &&
    preview !== null &&
    preview.count > 0 &&
    !preview.budget?.isShort &&
    (mustType === null || typed === mustType);
  const send = async () => {
    if (!action || !preview) return;
    const done = await call('changeAccounts', {
      body: { ...target, action, dryRun: false, expectedCount: preview.count },
    });
    notify(t('bulk.done', { action: t(`bulk.${type}`), n: done.count, skipped: done.skippedCount }));
    onDone(done);
  };
  return (
    <FormDialog
      title={t(`bulk.${type}`)}
      wide
      onClose={onClose}
      unsaved={given === NOTHING_GIVEN ? null : 'typed'}
      action={preview ? t(`bulk.apply.${type}`, { n: preview.count }) : t(`bulk.${type}`)}
      danger={type === 'delete'}
      isReady={ready}
      send={send}
    >
      <BulkFields
        type={type}
        given={given}
        set={(patch) => setGiven((before) => ({ ...before, ...patch }))}
      />
      {error ? <Failure error={error} /> : null}
      {pending && <Skeleton rows={3} />}
      {preview && <Preview type={type} preview={preview} />}
      {mustType !== null && (
        <Field label={t('dialog.typeToConfirm', { text: mustType })}>
          <Input value={typed} onInput={setTyped} inputMode="numeric" />
        </Field>
      )}
    </FormDialog>
  );
}
