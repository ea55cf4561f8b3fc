// The fields of a bulk action, and the request that they describe.
import type { BulkRequest } from '../../../api-types.js';
import { t } from '../../../lib/i18n.js';
import { readNumber } from '../../../lib/number-text.js';
import { ExpiryField, type ExpiryText, readExpiry } from '../../../ui/expiry-field.js';
import { Field, Input, Segments, Select } from '../../../ui/form.js';
import {
  AccessChoices,
  type AccessName,
  type AccessTexts,
  NO_ACCESS_TEXTS,
  readAccess,
} from '../fields/access-fields.js';
import {
  ContactChoices,
  type ContactName,
  type ContactTexts,
  NO_CONTACT_TEXTS,
  readContacts,
} from '../fields/contact-fields.js';
import {
  LIMIT_NAMES,
  LimitChoices,
  type LimitName,
  type LimitTexts,
  NO_LIMIT_TEXTS,
  readLimits,
} from '../fields/limits.js';
import { OwnerChoice } from '../fields/owner-choice.js';
import { daysWords, planLimitWords, usePlans } from '../fields/plans.js';
import { readTags, TagField } from '../fields/tag-field.js';
import type { BulkActionType } from './bulk-preview.js';

type ExtendFrom = 'later' | 'expiry' | 'now';
const MAX_DAYS = 3_650;

/** The values as typed. */
export interface Given {
  readonly days: string;
  readonly from: ExtendFrom;
  readonly expiry: ExpiryText;
  readonly limits: LimitTexts;
  readonly chosen: ReadonlySet<LimitName>;
  readonly contacts: ContactTexts;
  readonly chosenContacts: ReadonlySet<ContactName>;
  readonly access: AccessTexts;
  readonly chosenAccess: ReadonlySet<AccessName>;
  readonly addTags: string;
  readonly removeTags: string;
  /** The plan's name; '' means that each account keeps its own plan. */
  readonly plan: string;
  readonly use: 'renew' | 'upgrade';
  /** Id of a seller; '' is the administrator. */
  readonly owner: string;
}

export const NOTHING_GIVEN: Given = {
  days: '30',
  from: 'later',
  expiry: '',
  limits: NO_LIMIT_TEXTS,
  chosen: new Set(),
  contacts: NO_CONTACT_TEXTS,
  chosenContacts: new Set(),
  access: NO_ACCESS_TEXTS,
  chosenAccess: new Set(),
  addTags: '',
  removeTags: '',
  plan: '',
  use: 'renew',
  owner: '',
};

/** Returns the action; null while the fields do not describe a valid one. */
export function toAction(type: BulkActionType, given: Given): BulkRequest['action'] | null {
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
  if (type === 'set-contacts') {
    const ticked = tickedOf(given.contacts, given.chosenContacts);
    return ticked && { type, contacts: readContacts(ticked) };
  }
  if (type === 'set-access') {
    const ticked = tickedOf(given.access, given.chosenAccess);
    return ticked && { type, access: readAccess(ticked) };
  }
  if (type === 'hand-over') return { type, owner: given.owner || null };
  if (type === 'plan') return { type, plan: given.plan || null, use: given.use };
  if (type === 'tag') {
    const [add, remove] = [readTags(given.addTags), readTags(given.removeTags)];
    return add && remove && add.length + remove.length > 0 ? { type, add, remove } : null;
  }
  return { type };
}

/** Returns the texts that are ticked; null: none is. */
function tickedOf<Texts extends object>(
  texts: Texts,
  chosen: ReadonlySet<keyof Texts>,
): Partial<Texts> | null {
  const ticked = Object.entries(texts).filter(([name]) => chosen.has(name as keyof Texts));
  return ticked.length > 0 ? (Object.fromEntries(ticked) as Partial<Texts>) : null;
}

interface Props {
  readonly type: BulkActionType;
  readonly given: Given;
  readonly set: (patch: Partial<Given>) => void;
}

export function BulkFields({ type, given, set }: Props) {
  switch (type) {
    case 'extend':
      return <ExtendFields given={given} set={set} isWrong={toAction(type, given) === null} />;
    case 'reset-password':
      return <p>{t('bulk.reset-password.text')}</p>;
    case 'set-expiry':
      return <ExpiryField value={given.expiry} onChange={(expiry) => set({ expiry })} optional />;
    case 'set-limits':
      return (
        <>
          <p class="soft">{t('bulk.limits.text')}</p>
          <LimitChoices
            texts={given.limits}
            onChange={(patch) => set({ limits: { ...given.limits, ...patch } })}
            chosen={given.chosen}
            onChoose={(chosen) => set({ chosen })}
          />
        </>
      );
    case 'set-contacts':
      return (
        <>
          <p class="soft">{t('contacts.bulk.text')}</p>
          <ContactChoices
            texts={given.contacts}
            onChange={(patch) => set({ contacts: { ...given.contacts, ...patch } })}
            chosen={given.chosenContacts}
            onChoose={(chosenContacts) => set({ chosenContacts })}
          />
        </>
      );
    case 'set-access':
      return (
        <>
          <p class="soft">{t('bulk.access.text')}</p>
          <AccessChoices
            texts={given.access}
            onChange={(patch) => set({ access: { ...given.access, ...patch } })}
            chosen={given.chosenAccess}
            onChoose={(chosenAccess) => set({ chosenAccess })}
          />
        </>
      );
    case 'hand-over':
      return <OwnerChoice value={given.owner} onChange={(owner) => set({ owner })} />;
    case 'plan':
      return <PlanFields given={given} set={set} />;
    case 'tag':
      return (
        <>
          <p class="soft">{t('tags.bulk.text')}</p>
          <TagField
            label={t('tags.add')}
            value={given.addTags}
            onInput={(addTags) => set({ addTags })}
            autoFocus
          />
          <TagField
            label={t('tags.remove')}
            value={given.removeTags}
            onInput={(removeTags) => set({ removeTags })}
            isRemoved
          />
        </>
      );
    default:
      return null;
  }
}

function ExtendFields({ given, set, isWrong }: Omit<Props, 'type'> & { readonly isWrong: boolean }) {
  return (
    <div class="grid-2 short-first">
      <Field label={t('bulk.days')} error={isWrong ? t('bulk.days.wrong') : undefined}>
        <Input value={given.days} onInput={(days) => set({ days })} autoFocus />
      </Field>
      <div class="field">
        <span>{t('bulk.countFrom')}</span>
        <Segments
          value={given.from}
          onChange={(from) => set({ from })}
          label={t('bulk.countFrom')}
          options={[
            { value: 'later', label: t('bulk.fromLater') },
            { value: 'expiry', label: t('bulk.fromExpiry') },
            { value: 'now', label: t('bulk.fromNow') },
          ]}
        />
      </div>
    </div>
  );
}

function PlanFields({ given, set }: Omit<Props, 'type'>) {
  const plans = usePlans();
  const plan = plans.find(({ name }) => name === given.plan);
  return (
    <>
      <div class="grid-2">
        <Field
          label={t('plans.choose')}
          hint={plan ? `${daysWords(plan)} · ${planLimitWords(plan.limits)}` : undefined}
        >
          <Select
            value={given.plan}
            onChange={(name) => set({ plan: name })}
            options={[
              { value: '', label: t('plans.own') },
              ...plans.map(({ name }) => ({ value: name, label: name })),
            ]}
          />
        </Field>
        <div class="field">
          <span>{t('plans.use')}</span>
          <Segments
            value={given.use}
            onChange={(use) => set({ use })}
            label={t('plans.use')}
            options={[
              { value: 'renew', label: t('plans.renew') },
              { value: 'upgrade', label: t('plans.upgrade') },
            ]}
          />
        </div>
      </div>
      <p class="soft">{t(`plans.${given.use}.text`)}</p>
    </>
  );
}
