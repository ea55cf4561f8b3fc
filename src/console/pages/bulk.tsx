// Work on many accounts at once: choose, see what would happen and what is skipped, then do it.
import { useEffect, useState } from 'preact/hooks';
import type {
  AccountFilterBody,
  AccountLimitsChange,
  BulkRequest,
  BulkResult,
  SkippedAccount,
} from '../api-types.js';
import { call } from '../lib/api.js';
import { bytes, expiry, localTime } from '../lib/format.js';
import { type TextKey, t } from '../lib/i18n.js';
import { Button, useSettled } from '../ui/basics.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { ExpiryField, Field, Input, Segments } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import { LimitFields } from './limits.js';

export type BulkActionType = BulkRequest['action']['type'];

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
  'set-limits',
  'set-expiry',
  'delete',
];

export function BulkBar({ ids, filter, matched, pageFull, allMatching, onAllMatching, onDone }: BarProps) {
  const [action, setAction] = useState<BulkActionType | null>(null);
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
          onDone={() => {
            setAction(null);
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
  readonly onDone: () => void;
}

export function BulkDialog({ type, target, onClose, onDone }: DialogProps) {
  const [days, setDays] = useState('30');
  const [from, setFrom] = useState<'expiry' | 'now'>('expiry');
  const [expiresAt, setExpiresAt] = useState<string | null>(null);
  const [limits, setLimits] = useState<AccountLimitsChange>({});
  const [typed, setTyped] = useState('');
  const [preview, setPreview] = useState<BulkResult | null>(null);
  const [previewError, setPreviewError] = useState<unknown>(null);
  const { busy, error, run } = useAction();
  const action = toAction(type, { days, from, expiresAt, limits });
  const question = useSettled(JSON.stringify(action), 200);
  const targetKey = JSON.stringify(target);

  // The two texts stand for what they are made of.
  useEffect(() => {
    setPreview(null);
    setPreviewError(null);
    if (question === 'null') return;
    const abort = new AbortController();
    call('changeAccounts', {
      body: { ...target, action: JSON.parse(question), dryRun: true },
      signal: abort.signal,
    }).then(setPreview, (failure: unknown) => abort.signal.aborted || setPreviewError(failure));
    return () => abort.abort();
  }, [question, targetKey]);

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
      onDone();
    });
  };
  return (
    <Dialog
      title={t(`bulk.${type}`)}
      wide
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind={type === 'delete' ? 'danger' : 'primary'} disabled={!ready || busy}>
            {preview ? t('bulk.apply', { action: t(`bulk.${type}`), n: preview.count }) : t(`bulk.${type}`)}
          </Button>
        </>
      }
    >
      {type === 'extend' && (
        <div class="row wrap">
          <Field label={t('bulk.days')}>
            <Input value={days} onInput={setDays} inputMode="numeric" autoFocus />
          </Field>
          <div class="field">
            <span>{t('bulk.countFrom')}</span>
            <Segments
              value={from}
              onChange={setFrom}
              label={t('bulk.countFrom')}
              options={[
                { value: 'expiry', label: t('bulk.fromExpiry') },
                { value: 'now', label: t('bulk.fromNow') },
              ]}
            />
          </div>
        </div>
      )}
      {type === 'set-expiry' && <ExpiryField value={expiresAt} onChange={setExpiresAt} />}
      {type === 'set-limits' && (
        <>
          <p class="soft">{t('bulk.limits.text')}</p>
          <LimitFields value={limits} onChange={setLimits} keepable />
        </>
      )}
      {previewError ? <Failure error={previewError} /> : null}
      {!preview && !previewError && question !== 'null' && <Skeleton rows={3} />}
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

function toAction(
  type: BulkActionType,
  given: { days: string; from: 'expiry' | 'now'; expiresAt: string | null; limits: AccountLimitsChange },
): BulkRequest['action'] | null {
  if (type === 'extend') {
    const days = Number(given.days);
    return Number.isInteger(days) && days !== 0 && given.days.trim() !== ''
      ? { type, days, from: given.from }
      : null;
  }
  if (type === 'set-expiry') return { type, expiresAt: given.expiresAt };
  if (type === 'set-limits')
    return Object.keys(given.limits).length > 0 ? { type, limits: given.limits } : null;
  return { type };
}

function Preview({ type, preview }: { type: BulkActionType; preview: BulkResult }) {
  return (
    <div class="preview">
      <p>
        <strong>{t('bulk.preview', { n: preview.count })}</strong>{' '}
        {preview.skippedCount > 0 && (
          <span class="soft">{t('bulk.skipped', { n: preview.skippedCount })}</span>
        )}
      </p>
      {(preview.sessionsEnded > 0 || preview.heartbeatsRemoved > 0) && (
        <p class="warn-text">
          {preview.sessionsEnded > 0 && t('bulk.sessionsEnd', { n: preview.sessionsEnded })}{' '}
          {preview.heartbeatsRemoved > 0 && t('bulk.heartbeatsGo', { n: preview.heartbeatsRemoved })}
        </p>
      )}
      {preview.changes.length > 0 && (
        <div class="scroll">
          <table class="small">
            <tbody>
              {preview.changes.slice(0, 50).map((one) => (
                <tr key={one.id}>
                  <td>{one.username}</td>
                  {type !== 'delete' && (
                    <>
                      <td class="soft">{show(one.before)}</td>
                      <td aria-hidden="true">→</td>
                      <td>{one.after && show(one.after)}</td>
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Skipped list={preview.skipped} />
    </div>
  );
}

/** Why each account was passed over, grouped by the reason. */
export function Skipped({ list }: { list: readonly SkippedAccount[] }) {
  const groups = new Map<SkippedAccount['reason'], string[]>();
  for (const one of list) groups.set(one.reason, [...(groups.get(one.reason) ?? []), one.username]);
  return (
    <>
      {[...groups].map(([reason, names]) => (
        <details key={reason}>
          <summary>{t('bulk.skippedFor', { n: names.length, reason: t(`skipped.${reason}`) })}</summary>
          <p class="soft names">{names.join(', ')}</p>
        </details>
      ))}
    </>
  );
}

function show(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => showField(name, value))
    .join(' · ');
}

const FIELD_TEXTS: Readonly<Record<string, TextKey>> = {
  maxSessions: 'limits.maxSessions',
  maxClientAddresses: 'limits.maxClientAddresses',
  bytesPerSecondUp: 'limits.bytesPerSecondUp',
  bytesPerSecondDown: 'limits.bytesPerSecondDown',
  quotaBytes: 'limits.quotaBytes',
  quotaPeriod: 'limits.quotaPeriod',
  egressClass: 'limits.egressClass',
  remarks: 'account.remarks',
  username: 'account.username',
  whitelist: 'settings.whitelist',
  password: 'account.password',
  secondFactor: 'totp.title',
  name: 'tokens.name',
  scopes: 'tokens.scopes',
  heartbeatDays: 'retention.heartbeatDays',
  heartbeatsPerAccount: 'retention.heartbeatsPerAccount',
  runDays: 'retention.runDays',
  loginDays: 'retention.loginDays',
  auditDays: 'retention.auditDays',
  rules: 'settings.games',
  client: 'sessions.client',
  destination: 'sessions.destination',
};

const PERIODS: Readonly<Record<string, TextKey>> = {
  day: 'limits.period.day',
  week: 'limits.period.week',
  month: 'limits.period.month',
  never: 'limits.period.never',
};

/** Values that are words of the interface rather than somebody's text. */
function wordFor(name: string, value: unknown): TextKey | undefined {
  if (name === 'quotaPeriod') return PERIODS[String(value)];
  if (name === 'secondFactor') return value === true ? 'totp.on' : 'totp.off';
  // The audit log never has a password, only that it is a new one.
  if (name === 'password') return 'audit.changed';
  return undefined;
}

/** One changed field in words. */
export function showField(name: string, value: unknown): string {
  if (name === 'isEnabled') return t(value ? 'account.state.enabled' : 'account.state.disabled');
  if (name === 'expiresAt')
    return typeof value === 'string' ? `${localTime(value)} (${expiry(value)})` : expiry(null);
  const known = FIELD_TEXTS[name];
  const word = wordFor(name, value);
  const text = word
    ? t(word)
    : value === null
      ? '—'
      : typeof value === 'number' && name.toLowerCase().includes('bytes')
        ? bytes(value)
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
  return `${known ? t(known) : name}: ${text}`;
}
