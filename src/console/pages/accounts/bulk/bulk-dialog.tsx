// A bulk action on accounts: its fields and the request that they describe, a preview of the changes and the skipped accounts, then
// the action itself.
import { useState } from 'preact/hooks';
import type { AccountFilterBody, BulkRequest, BulkResult } from '../../../api-types.js';
import { call, may } from '../../../lib/api.js';
import { controlOf } from '../../../lib/draft.js';
import { readNumber } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { usePreview } from '../../../lib/load.js';
import { type DialogOf, FormDialog } from '../../../ui/dialog.js';
import { ExpiryField, NEVER, readExpiry } from '../../../ui/expiry-field.js';
import { Field, Input, InputField, optionsOf, SegmentsField } from '../../../ui/form.js';
import { Failure, Skeleton } from '../../../ui/states.js';
import { notify } from '../../../ui/toast.js';
import { type FieldName, NAMES } from '../fields/account-fields.js';
import { AccountFieldChoices, AccountFields } from '../fields/field-inputs.js';
import { readFields, textsOf } from '../fields/field-texts.js';
import { OwnerChoice, PlanChoice } from '../fields/plans.js';
import { readTags, TagField } from '../fields/tag-field.js';
import { type BulkActionType, Preview } from './bulk-preview.js';

type Target = { readonly ids: readonly string[] } | { readonly filter: AccountFilterBody };

interface BulkDialogProps extends DialogOf<Target, BulkResult> {
  readonly type: BulkActionType;
}

export function BulkDialog({ type, of: target, onClose, onDone }: BulkDialogProps) {
  const [given, setGiven] = useState(NOTHING_GIVEN);
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
  const ready = action !== null && preview !== null && preview.count > 0 && !preview.budget?.isShort;
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
      typed={type === 'delete' && preview?.count ? String(preview.count) : undefined}
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
    </FormDialog>
  );
}

const MAX_DAYS = 3_650;

const NOTHING_GIVEN = {
  days: '30',
  from: 'later' as 'later' | 'expiry' | 'now',
  expiry: '',
  texts: textsOf({}),
  chosen: new Set() as ReadonlySet<FieldName>,
  addTags: '',
  removeTags: '',
  /** The plan's name; '' means that each account keeps its own plan. */
  plan: '',
  use: 'renew' as 'renew' | 'upgrade',
  /** Id of a seller; '' is the administrator. */
  owner: '',
  reason: '',
  until: NEVER,
};
type Given = Readonly<typeof NOTHING_GIVEN>;

/** Returns the action; null while the fields do not describe a valid one. */
function toAction(type: BulkActionType, given: Given): BulkRequest['action'] | null {
  if (type === 'extend') {
    const days = readNumber(given.days, { min: -MAX_DAYS, max: MAX_DAYS, whole: true });
    return days ? { type, days, from: given.from } : null;
  }
  if (type === 'set-expiry') {
    const expiresAt = readExpiry(given.expiry);
    return expiresAt === undefined ? null : { type, expiresAt };
  }
  if (type === 'set-limits' || type === 'set-contacts' || type === 'set-access') {
    const change = readFields(given.texts, given.chosen);
    if (!change || given.chosen.size === 0) return null;
    if (type === 'set-access') return { type, access: change };
    return type === 'set-limits'
      ? { type, limits: change.limits ?? {} }
      : { type, contacts: change.contacts ?? {} };
  }
  if (type === 'set-exit') return { type, exit: given.texts.exit || null };
  if (type === 'hand-over') return { type, owner: given.owner || null };
  if (type === 'plan') return { type, plan: given.plan || null, use: given.use };
  if (type === 'tag') {
    const [add, remove] = [readTags(given.addTags), readTags(given.removeTags)];
    return add && remove && add.length + remove.length > 0 ? { type, add, remove } : null;
  }
  if (type === 'suspend') {
    const [reason, until] = [given.reason.trim(), readExpiry(given.until)];
    return reason === '' || until === undefined ? null : { type, reason, until };
  }
  return type === 'resume' ? { type, ofGuard: may('egress:write') } : { type };
}

interface Props {
  readonly type: BulkActionType;
  readonly given: Given;
  readonly set: (patch: Partial<Given>) => void;
}

function BulkFields({ type, given, set }: Props) {
  const control = controlOf(given, set);
  switch (type) {
    case 'extend':
      return (
        <div class="grid-2 short-first">
          <Field
            label={t('plans.daysField')}
            error={toAction(type, given) === null ? t('bulk.days.wrong') : undefined}
          >
            <Input {...control('days')} autoFocus />
          </Field>
          <SegmentsField
            of="bulk.countFrom"
            {...control('from')}
            options={optionsOf(['later', 'expiry', 'now'], (from) => t(`bulk.from.${from}`))}
          />
        </div>
      );
    case 'reset-password':
    case 'reset-usage':
      return <p>{t(`bulk.${type}.text`)}</p>;
    case 'set-expiry':
      return <ExpiryField {...control('expiry')} optional />;
    case 'set-limits':
      return <ChosenFields text={t('bulk.limits.text')} names={NAMES.limits} given={given} set={set} />;
    case 'set-contacts':
      return <ChosenFields text={t('contacts.bulk.text')} names={NAMES.contacts} given={given} set={set} />;
    case 'set-access':
      return <ChosenFields text={t('bulk.access.text')} names={NAMES.access} given={given} set={set} />;
    case 'set-exit':
      return (
        <AccountFields
          names={['exit']}
          texts={given.texts}
          onChange={(patch) => set({ texts: { ...given.texts, ...patch } })}
        />
      );
    case 'hand-over':
      return <OwnerChoice {...control('owner')} />;
    case 'plan':
      return (
        <>
          <div class="grid-2">
            <PlanChoice {...control('plan')} none={t('plans.own')} />
            <SegmentsField
              of="plans.use"
              {...control('use')}
              options={optionsOf(['renew', 'upgrade'], (use) => t(`plans.${use}`))}
            />
          </div>
          <p class="soft">{t(`plans.${given.use}.text`)}</p>
        </>
      );
    case 'suspend':
      return (
        <>
          <p class="soft">{t('bulk.suspend.text')}</p>
          <InputField
            of="account.suspendReason"
            path="reason"
            {...control('reason')}
            maxLength={200}
            autoFocus
            required
          />
          <ExpiryField
            {...control('until')}
            label={t('bulk.suspend.until')}
            never={t('bulk.suspend.untilLifted')}
          />
        </>
      );
    case 'tag':
      return (
        <>
          <p class="soft">{t('tags.bulk.text')}</p>
          <TagField label={t('tags.add')} {...control('addTags')} autoFocus />
          <TagField label={t('tags.remove')} {...control('removeTags')} isRemoved />
        </>
      );
    default:
      return null;
  }
}

interface ChosenFieldsProps extends Omit<Props, 'type'> {
  readonly text: string;
  readonly names: readonly FieldName[];
}

function ChosenFields({ text, names, given: { texts, chosen }, set }: ChosenFieldsProps) {
  return (
    <>
      <p class="soft">{text}</p>
      <div class={names === NAMES.access ? 'stack' : 'grid-2'}>
        <AccountFieldChoices
          names={names}
          texts={texts}
          onChange={(patch) => set({ texts: { ...texts, ...patch } })}
          chosen={chosen}
          onChoose={(next) => set({ chosen: next })}
        />
      </div>
    </>
  );
}
