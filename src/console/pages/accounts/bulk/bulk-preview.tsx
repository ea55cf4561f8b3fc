// Shows the changes of a bulk action account by account before it runs.
import type { Account, AccountLimits, BulkRequest, BulkResult, SkippedAccount } from '../../../api-types.js';
import { expiry, expiryShort, localTime } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { Pieces, ScrollBox, State } from '../../../ui/basics.js';
import { SmallTable } from '../../../ui/small-table.js';
import { NAMES } from '../fields/account-fields.js';
import { valueIn } from '../fields/field-texts.js';
import { accountWords, fieldLabel, showField } from '../fields/field-words.js';
import { BudgetWords, expiryOf, limitWords } from '../fields/plans.js';

export type BulkActionType = BulkRequest['action']['type'];

const SHOWN_CHANGES = 50;

export function Preview({ type, preview }: { type: BulkActionType; preview: BulkResult }) {
  const listed = preview.changes.slice(0, SHOWN_CHANGES);
  const heading = t(type === 'delete' ? 'bulk.preview.delete' : 'bulk.preview', { n: preview.count });
  return (
    <div class="preview stack near">
      <p>
        <strong>{heading}</strong>{' '}
        {preview.skippedCount > 0 && (
          <span class="soft">{t('bulk.skipped', { n: preview.skippedCount })}</span>
        )}
      </p>
      {(preview.stayingExpired > 0 || preview.shortened > 0) && (
        <p class="row wrap">
          {preview.stayingExpired > 0 && (
            <State tone="bad">{t('bulk.stayingExpired', { n: preview.stayingExpired })}</State>
          )}
          {preview.shortened > 0 && <State tone="bad">{t('bulk.shortened', { n: preview.shortened })}</State>}
        </p>
      )}
      <BudgetWords budget={preview.budget} />
      {(preview.sessionsEnded > 0 || preview.heartbeatsRemoved > 0) && (
        <p class="warn-text">
          {preview.sessionsEnded > 0 && t('bulk.sessionsEnd', { n: preview.sessionsEnded })}{' '}
          {preview.heartbeatsRemoved > 0 && t('bulk.heartbeatsGo', { n: preview.heartbeatsRemoved })}
        </p>
      )}
      {listed.length > 0 && (
        <ScrollBox label={heading}>
          <SmallTable
            look="small before-after"
            rows={listed}
            id={({ id }) => id}
            columns={[
              ['', ({ username }) => username, 'whole'],
              [
                '',
                ({ before, after }) =>
                  Object.keys(after ?? {}).length > 0 && (
                    <Change type={type} before={before as Terms} after={after as Terms} />
                  ),
              ],
            ]}
          />
        </ScrollBox>
      )}
      {preview.count > listed.length && listed.length > 0 && (
        <p class="soft">{t('bulk.notListed', { n: preview.count - listed.length })}</p>
      )}
      <Skipped list={preview.skipped} />
    </div>
  );
}

interface BeforeAfter {
  readonly before: Terms;
  readonly after: Terms;
}

/** The daemon shows only the fields that the action sets, and those that explain them. */
type Terms = AccountLimits & Pick<Account, 'plan' | 'expiresAt' | 'daysFromFirstLogin'>;

function Change({ type, before, after }: BeforeAfter & { readonly type: BulkActionType }) {
  if (type === 'plan') return <PlanChange before={before} after={after} />;
  if (type === 'set-limits') return <LimitWords before={before} after={after} />;
  if (type === 'set-access') return <AccessChange before={before} after={after} />;
  if ('expiresAt' in after) return <ExpiryWords before={before.expiresAt} after={after.expiresAt} />;
  return (
    <>
      <span class="soft">{show(before)}</span> → {show(after)}
    </>
  );
}

/** Shows every value after the action: plan, expiry and limits. */
function PlanChange({ before: old, after: now }: BeforeAfter) {
  const waits = old.daysFromFirstLogin !== null || now.daysFromFirstLogin !== null;
  return (
    <>
      <p>
        {old.plan !== now.plan && old.plan !== null && <del>{old.plan}</del>} <strong>{now.plan}</strong>
      </p>
      {waits ? (
        <p>
          <span class="soft">{expiryOf(old, true)}</span> → <strong>{expiryOf(now, true)}</strong>
        </p>
      ) : (
        <ExpiryWords before={old.expiresAt} after={now.expiresAt} />
      )}
      <LimitWords before={old} after={now} />
    </>
  );
}

/** `344 days → 29 days`: the time from now, and the exact moment. */
function ExpiryWords({ before, after }: { before: string | null; after: string | null }) {
  const at = (iso: string | null) => (iso === null ? Number.POSITIVE_INFINITY : Date.parse(iso));
  const staysExpired = at(after) <= Date.now();
  const isShortened = at(after) < at(before);
  if (before === after) return <p class="soft">{expiry(after)}</p>;
  return (
    <p>
      <span class="soft">{expiryShort(before)}</span> →{' '}
      <span class={staysExpired || isShortened ? 'bad-text strong' : 'good-text strong'}>
        {expiryShort(after)}
      </span>{' '}
      {after !== null && <span class="soft">{localTime(after)}</span>}{' '}
      {staysExpired ? (
        <State tone="bad">{t('bulk.stayExpired')}</State>
      ) : (
        isShortened && <State tone="bad">{t('bulk.shorter')}</State>
      )}
    </p>
  );
}

type Changed = readonly [field: string, before: string, after: string, isChanged: boolean];

/** Every value after the action; before a changed one, its former value. */
const changesOf = (list: readonly Changed[]) =>
  list.map(([field, before, after, isChanged]) => (
    <span key={field} class={isChanged ? 'break' : 'soft'}>
      {t('bulk.field', { field })}
      {isChanged && <del>{before}</del>} {isChanged ? <ins>{after}</ins> : after}
    </span>
  ));

function LimitWords({ before, after }: BeforeAfter) {
  const changed = new Set(NAMES.limits.filter((name) => before[name] !== after[name]));
  if (changed.has('quotaPeriod') && (before.quotaBytes !== null || after.quotaBytes !== null))
    changed.add('quotaBytes');
  const old = new Map(limitWords(before, changed));
  return (
    <div class="changes">
      {changesOf(
        limitWords(after, changed).map(([name, word]) => [
          t(`limits.${name}`),
          old.get(name) ?? t('limits.none'),
          word,
          changed.has(name),
        ]),
      )}
      <span class="soft">{t('limits.othersNone')}</span>
    </div>
  );
}

/** From where and when an account may log in, also what stays. */
function AccessChange({ before, after }: BeforeAfter) {
  const changes = NAMES.access.map((name): Changed => {
    const [old = '', now = ''] = [before, after].map((of) => accountWords(name, valueIn(of, name)));
    return [fieldLabel(name), old, now, old !== now];
  });
  return <div class="changes">{changesOf(changes)}</div>;
}

export function Skipped({ list }: { list: readonly SkippedAccount[] }) {
  const groups = new Map<SkippedAccount['reason'], string[]>();
  for (const one of list) groups.set(one.reason, [...(groups.get(one.reason) ?? []), one.username]);
  return [...groups].map(([reason, names]) => (
    <details key={reason}>
      <summary>{t('bulk.skippedFor', { n: names.length, reason: t(`skipped.${reason}`) })}</summary>
      <ScrollBox look="soft names" label={t(`skipped.${reason}`)}>
        <Pieces of={names} between=", " />
      </ScrollBox>
    </details>
  ));
}

function show(fields: Terms): string {
  return Object.entries(fields)
    .map(([name, value]) => showField(name, value))
    .join(' · ');
}
