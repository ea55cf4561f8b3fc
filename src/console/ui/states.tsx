// Components shown in place of data: empty, loading, an error, no permission.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { FieldError } from '../api-types.js';
import { ApiError } from '../lib/api.js';
import { detailText, fieldText, isTextKey, t } from '../lib/i18n.js';
import type { Loaded } from '../lib/load.js';
import { fieldLabel } from '../pages/accounts/fields/field-words.js';
import { Button } from './basics.js';
import { RefusedFields } from './form.js';
import { Icon, type IconName } from './icons.js';

export interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function Empty({ icon, title, text, children = text, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children && <div class="soft">{children}</div>}
      {action && <div class="row">{action}</div>}
    </div>
  );
}

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

/**
 * The fields of a form, and the failure to send it: beside the field that the daemon refused, where the focus then is, and at the end
 * of the form.
 */
export function FormErrors({ error, children }: { error: unknown; children: ComponentChildren }) {
  const end = useRef<HTMLDivElement>(null);
  const refused = useMemo(() => refusedFields(error), [error]);
  useEffect(() => {
    const form = end.current?.closest('form');
    const field = refused.size === 0 ? null : form?.querySelector<HTMLElement>('[aria-invalid=true]');
    const details = field?.closest('details');
    if (details) details.open = true;
    if (field) field.focus();
    else end.current?.scrollIntoView({ block: 'nearest' });
  }, [error, refused]);
  return (
    <RefusedFields.Provider value={refused}>
      {children}
      {error ? (
        <div ref={end}>
          <Failure error={error} />
        </div>
      ) : null}
    </RefusedFields.Provider>
  );
}

/** Codes that name the refused field themselves. */
const FIELD_OF: Partial<Record<ApiError['code'], string>> = { 'username-taken': 'username' };

/** Returns what the daemon refused, by the path in the request without the numbers of list items: `list.username`. */
function refusedFields(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof ApiError)) return new Map();
  const name = FIELD_OF[error.code];
  return new Map([
    ...(name === undefined ? [] : [[name, explain(error).title] as const]),
    ...error.fields.map((field) => [pathOf(field), fieldText(field)] as const),
  ]);
}

/** The name of the field, and of the channel of notices that it belongs to. */
function labelOf(field: FieldError): string {
  const path = pathOf(field);
  const ofRange = `list.days.${path}`;
  if (field.path.startsWith('query.') && isTextKey(ofRange)) return t(ofRange);
  const label = fieldLabel(path);
  return label === path ? fieldLabel(path.split('.').at(-1) ?? path) : label;
}

const pathOf = ({ path }: FieldError): string =>
  path
    .split('.')
    .filter((part) => !/^\d+$/.test(part))
    .slice(1)
    .join('.');

/** Failures that read as another one does. Each other has its texts under `error.` and its code. */
const LIKE: Partial<Record<ApiError['code'], ApiError['code']>> = {
  'wrong-scope': 'forbidden',
  'bad-request': 'validation',
  'unsupported-media-type': 'validation',
  'queue-full': 'too-many-requests',
};

function explain(error: unknown): { title: string; next: string; detail: string | null } {
  const { code, fields } = error instanceof ApiError ? error : { code: 'internal' as const, fields: [] };
  const name = LIKE[code] ?? code;
  // Of another version of the daemon a code may be unknown here.
  const known = isTextKey(`error.${name}.next`) ? (name as 'internal') : 'internal';
  const wrong = fields.map((field) => t('audit.field', { field: labelOf(field), value: fieldText(field) }));
  const detail = error instanceof ApiError ? detailText(error) : String(error);
  return {
    title: t(`error.${known}`),
    next: t(`error.${known}.next`),
    detail: wrong.length > 0 ? wrong.join(t('schedule.entries')) : detail,
  };
}

interface WhenLoadedProps<T> {
  readonly of: Pick<Loaded<T>, 'data' | 'error' | 'reload'>;
  readonly rows: number;
  /** Does not show that data which is here could not be read again. */
  readonly keeps?: boolean;
  /** Stands for an object that there is not. */
  readonly gone?: ComponentChildren;
  readonly children?: (data: T) => ComponentChildren;
}

/** What was read: while there is nothing yet, the layout of the coming data, or why it could not be read. */
export function WhenLoaded<T>({ of, rows, keeps = false, gone, children }: WhenLoadedProps<T>) {
  const { data, error, reload } = of;
  if (gone && !data && error?.code === 'not-found') return <>{gone}</>;
  return (
    <>
      {error && !(keeps && data) && <Failure error={error} retry={reload} />}
      {!data && !error && <Skeleton rows={rows} />}
      {data && children?.(data)}
    </>
  );
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
