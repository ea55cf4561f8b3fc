// Components shown in place of data: empty, loading, an error, no permission.
import type { ComponentChildren } from 'preact';
import { ApiError } from '../lib/api.js';
import { type TextKey, t } from '../lib/i18n.js';
import { detailText, fieldText } from '../lib/server-texts.js';
import { fieldLabel } from '../pages/field-words.js';
import { Button } from './basics.js';
import { Icon, type IconName } from './icons.js';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** Explains an empty list, and offers the first step. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children && <div class="soft">{children}</div>}
      {action && <div class="row">{action}</div>}
    </div>
  );
}

/** Explains a failure, and offers the next step. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, next, detail } = explain(error);
  return (
    <div class="failure" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{title}</strong>
        {detail && <div class="soft">{detail}</div>}
        <div class="soft">{next}</div>
      </div>
      {retry && (
        <Button icon="refresh" onClick={retry}>
          {t('error.retry')}
        </Button>
      )}
    </div>
  );
}

const KNOWN: Partial<Record<ApiError['code'], { title: TextKey; next: TextKey }>> = {
  'signed-out': { title: 'error.signedOut', next: 'error.signedOut.next' },
  offline: { title: 'error.offline', next: 'error.offline.next' },
  forbidden: { title: 'error.forbidden', next: 'error.forbidden.next' },
  'wrong-scope': { title: 'error.forbidden', next: 'error.forbidden.next' },
  'wrong-role': { title: 'error.forbidden', next: 'error.wrongRole.next' },
  'cross-site': { title: 'error.crossSite', next: 'error.crossSite.next' },
  'not-found': { title: 'error.notFound', next: 'error.notFound.next' },
  'username-taken': { title: 'error.usernameTaken', next: 'error.usernameTaken.next' },
  'over-budget': { title: 'error.overBudget', next: 'error.overBudget.next' },
  'address-taken': { title: 'error.addressTaken', next: 'error.addressTaken.next' },
  'wrong-credentials': { title: 'error.wrongCredentials', next: 'error.wrongCredentials.next' },
  'changed-meanwhile': { title: 'error.changedMeanwhile', next: 'error.changedMeanwhile.next' },
  conflict: { title: 'error.conflict', next: 'error.conflict.next' },
  validation: { title: 'error.validation', next: 'error.validation.next' },
  'bad-request': { title: 'error.validation', next: 'error.validation.next' },
  'too-large': { title: 'error.tooLarge', next: 'error.tooLarge.next' },
  'too-many-requests': { title: 'error.tooMany', next: 'error.tooMany.next' },
  'unsupported-media-type': { title: 'error.validation', next: 'error.validation.next' },
  unavailable: { title: 'error.unavailable', next: 'error.unavailable.next' },
  'queue-full': { title: 'error.tooMany', next: 'error.tooMany.next' },
};

function explain(error: unknown): { title: string; next: string; detail: string | null } {
  const known = error instanceof ApiError ? KNOWN[error.code] : undefined;
  const fields =
    error instanceof ApiError
      ? error.fields.map((field) =>
          t('audit.field', {
            field: fieldLabel(field.path.split('.').at(-1) ?? ''),
            value: fieldText(field),
          }),
        )
      : [];
  const detail =
    fields.length > 0
      ? fields.join(t('error.between'))
      : error instanceof ApiError
        ? detailText(error)
        : String(error);
  return {
    title: t(known?.title ?? 'error.internal'),
    next: t(known?.next ?? 'error.internal.next'),
    detail: detail ?? null,
  };
}

/** Has the layout of the coming data, so that nothing moves when the data arrives. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} style={{ width: `${92 - ((i * 17) % 40)}%` }} />
      ))}
    </div>
  );
}
