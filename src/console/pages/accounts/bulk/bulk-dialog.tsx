// A bulk action on accounts: choose the action, preview the changes and the skipped accounts, then run it.
import { useEffect, useState } from 'preact/hooks';
import type { AccountFilterBody, BulkRequest, BulkResult } from '../../../api-types.js';
import { call, online } from '../../../lib/api.js';
import { useCell } from '../../../lib/cell.js';
import { t } from '../../../lib/i18n.js';
import { Button, useSettled } from '../../../ui/basics.js';
import { Dialog, useAction } from '../../../ui/dialog.js';
import { Field, Input } from '../../../ui/form.js';
import { Failure, Skeleton } from '../../../ui/states.js';
import { notify } from '../../../ui/toast.js';
import { BulkFields, NOTHING_GIVEN, toAction } from './bulk-fields.js';
import { type BulkActionType, Preview } from './bulk-preview.js';

type Target = { readonly ids: readonly string[] } | { readonly filter: AccountFilterBody };

interface DialogProps {
  readonly type: BulkActionType;
  readonly target: Target;
  readonly onClose: () => void;
  readonly onDone: (result: BulkResult) => void;
}

export function BulkDialog({ type, target, onClose, onDone }: DialogProps) {
  const [given, setGiven] = useState(NOTHING_GIVEN);
  const [typed, setTyped] = useState('');
  const { busy, error, run } = useAction();
  const action = toAction(type, given);
  const { preview, error: previewError, pending } = usePreview(target, action);

  const mustType = type === 'delete' && preview !== null && preview.count > 0 ? String(preview.count) : null;
  const ready =
    action !== null &&
    preview !== null &&
    preview.count > 0 &&
    !preview.budget?.isShort &&
    (mustType === null || typed === mustType);
  const submit = () => {
    if (!ready || busy || !action || !preview) return;
    void run(async () => {
      const done = await call('changeAccounts', {
        body: { ...target, action, dryRun: false, expectedCount: preview.count },
      });
      notify(t('bulk.done', { action: t(`bulk.${type}`), n: done.count, skipped: done.skippedCount }));
      onDone(done);
    });
  };
  return (
    <Dialog
      title={t(`bulk.${type}`)}
      wide
      onClose={onClose}
      error={error}
      onSubmit={submit}
      unsaved={given === NOTHING_GIVEN ? null : 'typed'}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind={type === 'delete' ? 'danger' : 'primary'} disabled={!ready || busy}>
            {preview ? t(`bulk.apply.${type}`, { n: preview.count }) : t(`bulk.${type}`)}
          </Button>
        </>
      )}
    >
      <BulkFields
        type={type}
        given={given}
        set={(patch) => setGiven((before) => ({ ...before, ...patch }))}
      />
      {previewError ? <Failure error={previewError} /> : null}
      {pending && <Skeleton rows={3} />}
      {preview && <Preview type={type} preview={preview} />}
      {mustType !== null && (
        <Field label={t('dialog.typeToConfirm', { text: mustType })}>
          <Input value={typed} onInput={setTyped} inputMode="numeric" />
        </Field>
      )}
    </Dialog>
  );
}

interface Shown {
  readonly question: string;
  readonly preview: BulkResult | null;
  readonly error: unknown;
}

/** Returns the daemon's preview of this action; null until the daemon has answered for exactly this action. */
function usePreview(
  target: Target,
  action: BulkRequest['action'] | null,
): { preview: BulkResult | null; error: unknown; pending: boolean } {
  const question = action && JSON.stringify({ ...target, action, dryRun: true });
  const settled = useSettled(question, 200);
  const [shown, setShown] = useState<Shown | null>(null);
  const isOnline = useCell(online);
  useEffect(() => {
    if (settled === null) return;
    const abort = new AbortController();
    call('changeAccounts', { body: JSON.parse(settled) as BulkRequest, signal: abort.signal }).then(
      (preview) => setShown({ question: settled, preview, error: null }),
      (error: unknown) => abort.signal.aborted || setShown({ question: settled, preview: null, error }),
    );
    return () => abort.abort();
  }, [settled, isOnline]);
  if (question === null) return { preview: null, error: null, pending: false };
  if (shown?.question !== question) return { preview: null, error: null, pending: true };
  return { preview: shown.preview, error: shown.error, pending: false };
}
