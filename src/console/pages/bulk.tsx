// Work on many accounts at once: choose, see what would happen and what is skipped, then do it.
import { useEffect, useState } from 'preact/hooks';
import type { AccountFilterBody, BulkRequest, BulkResult, Credentials } from '../api-types.js';
import { call } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { readNumber } from '../lib/number-text.js';
import { Button, useSettled } from '../ui/basics.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { ExpiryField, type ExpiryText, readExpiry } from '../ui/expiry-field.js';
import { Field, Input, Segments } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import { type BulkActionType, Preview } from './bulk-preview.js';
import { ManyCredentialsDialog } from './credentials.js';
import {
  LIMIT_NAMES,
  LimitChoices,
  type LimitName,
  type LimitTexts,
  NO_LIMIT_TEXTS,
  readLimits,
} from './limits.js';

interface BarProps {
  readonly ids: readonly string[];
  readonly filter: AccountFilterBody;
  readonly matched: number;
  /** The whole page is selected and there is more. */
  readonly pageFull: boolean;
  readonly allMatching: boolean;
  readonly onAllMatching: (all: boolean) => void;
  readonly onDone: () => void;
}

const ACTIONS: readonly BulkActionType[] = [
  'extend',
  'enable',
  'disable',
  'reset-password',
  'set-limits',
  'set-expiry',
  'delete',
];

export function BulkBar({ ids, filter, matched, pageFull, allMatching, onAllMatching, onDone }: BarProps) {
  const [action, setAction] = useState<BulkActionType | null>(null);
  const [credentials, setCredentials] = useState<readonly Credentials[]>([]);
  const chosen = allMatching ? matched : ids.length;
  return (
    <div class="bulk-bar" role="toolbar" aria-label={t('bulk.label')}>
      <strong class="number">{t('bulk.selected', { n: chosen })}</strong>
      {pageFull && !allMatching && (
        <button type="button" class="link" onClick={() => onAllMatching(true)}>
          {t('bulk.selectAll', { n: matched })}
        </button>
      )}
      <span class="grow" />
      {ACTIONS.map((type) => (
        <Button key={type} kind={type === 'delete' ? 'danger' : 'plain'} onClick={() => setAction(type)}>
          {t(`bulk.${type}`)}
        </Button>
      ))}
      {action && (
        <BulkDialog
          type={action}
          target={allMatching ? { filter } : { ids }}
          onClose={() => setAction(null)}
          onDone={(result) => {
            setAction(null);
            // The bar goes when the selection does: passwords are seen first.
            if (result.credentials.length > 0) setCredentials(result.credentials);
            else onDone();
          }}
        />
      )}
      {credentials.length > 0 && (
        <ManyCredentialsDialog
          list={credentials}
          title={t('credentials.reset', { n: credentials.length })}
          onClose={() => {
            setCredentials([]);
            onDone();
          }}
        />
      )}
    </div>
  );
}

type Target = { readonly ids: readonly string[] } | { readonly filter: AccountFilterBody };

interface DialogProps {
  readonly type: BulkActionType;
  readonly target: Target;
  readonly onClose: () => void;
  readonly onDone: (result: BulkResult) => void;
}

type ExtendFrom = 'later' | 'expiry' | 'now';
const MAX_DAYS = 3_650;

export function BulkDialog({ type, target, onClose, onDone }: DialogProps) {
  const [days, setDays] = useState('30');
  const [from, setFrom] = useState<ExtendFrom>('later');
  const [expiry, setExpiry] = useState<ExpiryText>('');
  const [limits, setLimits] = useState(NO_LIMIT_TEXTS);
  const [chosen, setChosen] = useState<ReadonlySet<LimitName>>(new Set());
  const [typed, setTyped] = useState('');
  const { busy, error, run } = useAction();
  const action = toAction(type, { days, from, expiry, limits, chosen });
  const { preview, error: previewError, pending } = usePreview(target, action);

  const mustType = type === 'delete' && preview !== null && preview.count > 0 ? String(preview.count) : null;
  const ready =
    action !== null && preview !== null && preview.count > 0 && (mustType === null || typed === mustType);
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
      onSubmit={submit}
      unsaved={days !== '30' || expiry !== '' || chosen.size > 0 ? 'typed' : null}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind={type === 'delete' ? 'danger' : 'primary'} disabled={!ready || busy}>
            {preview ? t('bulk.apply', { action: t(`bulk.${type}`), n: preview.count }) : t(`bulk.${type}`)}
          </Button>
        </>
      )}
    >
      {type === 'extend' && (
        <div class="grid-2">
          <Field label={t('bulk.days')} error={action === null ? t('bulk.days.wrong') : undefined}>
            <Input value={days} onInput={setDays} wrong={action === null} autoFocus />
          </Field>
          <div class="field">
            <span>{t('bulk.countFrom')}</span>
            <Segments
              value={from}
              onChange={setFrom}
              label={t('bulk.countFrom')}
              options={[
                { value: 'later', label: t('bulk.fromLater') },
                { value: 'expiry', label: t('bulk.fromExpiry') },
                { value: 'now', label: t('bulk.fromNow') },
              ]}
            />
          </div>
        </div>
      )}
      {type === 'reset-password' && <p>{t('bulk.reset-password.text')}</p>}
      {type === 'set-expiry' && <ExpiryField value={expiry} onChange={setExpiry} optional />}
      {type === 'set-limits' && (
        <>
          <p class="soft">{t('bulk.limits.text')}</p>
          <LimitChoices
            texts={limits}
            onChange={(patch) => setLimits((before) => ({ ...before, ...patch }))}
            chosen={chosen}
            onChoose={setChosen}
          />
        </>
      )}
      {previewError ? <Failure error={previewError} /> : null}
      {pending && <Skeleton rows={3} />}
      {preview && <Preview type={type} preview={preview} />}
      {mustType !== null && (
        <Field label={t('dialog.typeToConfirm', { text: mustType })}>
          <Input value={typed} onInput={setTyped} inputMode="numeric" />
        </Field>
      )}
      {error ? <Failure error={error} /> : null}
    </Dialog>
  );
}

interface Shown {
  readonly question: string;
  readonly preview: BulkResult | null;
  readonly error: unknown;
}

/** What the daemon says would happen; null until it has said so of this very action. */
function usePreview(
  target: Target,
  action: BulkRequest['action'] | null,
): { preview: BulkResult | null; error: unknown; pending: boolean } {
  const question = action && JSON.stringify({ ...target, action, dryRun: true });
  const settled = useSettled(question, 200);
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    if (settled === null) return;
    const abort = new AbortController();
    call('changeAccounts', { body: JSON.parse(settled) as BulkRequest, signal: abort.signal }).then(
      (preview) => setShown({ question: settled, preview, error: null }),
      (error: unknown) => abort.signal.aborted || setShown({ question: settled, preview: null, error }),
    );
    return () => abort.abort();
  }, [settled]);
  if (question === null) return { preview: null, error: null, pending: false };
  if (shown?.question !== question) return { preview: null, error: null, pending: true };
  return { preview: shown.preview, error: shown.error, pending: false };
}

interface Given {
  readonly days: string;
  readonly from: ExtendFrom;
  readonly expiry: ExpiryText;
  readonly limits: LimitTexts;
  readonly chosen: ReadonlySet<LimitName>;
}

/** null: what is on the screen is not yet something that can be done. */
function toAction(type: BulkActionType, given: Given): BulkRequest['action'] | null {
  if (type === 'extend') {
    const days = readNumber(given.days, { min: -MAX_DAYS, max: MAX_DAYS, whole: true });
    return days ? { type, days, from: given.from } : null;
  }
  if (type === 'set-expiry') {
    const expiresAt = readExpiry(given.expiry);
    return expiresAt === undefined ? null : { type, expiresAt };
  }
  if (type === 'set-limits') {
    const chosen = LIMIT_NAMES.filter((name) => given.chosen.has(name));
    const limits = readLimits(Object.fromEntries(chosen.map((name) => [name, given.limits[name]])));
    return limits && chosen.length > 0 ? { type, limits } : null;
  }
  return { type };
}
