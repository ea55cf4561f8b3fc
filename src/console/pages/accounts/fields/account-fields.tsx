// The fields of an account, each described once: its label, its text in a form, how that text is read, its input, and its words.
// What forms, previews and lists of changes show of a field comes from here. A new field is an entry of `FIELDS`.
import type { Account, AccountChange, AccountLimits } from '../../../api-types.js';
import { useUser } from '../../../lib/api.js';
import { expiry, localTime, scheduleEntries, scheduleWords } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { href } from '../../../lib/router.js';
import { Pieces } from '../../../ui/basics.js';
import { ExpiryField, expiryText, NEVER, readExpiry } from '../../../ui/expiry-field.js';
import { Checkbox, optionsOf } from '../../../ui/form.js';
import { type AccountField, addresses, choice, guarded, limit, named, text } from './field-kinds.js';
import { readTags, TagField, tagsText } from './tag-field.js';

/** What is changed elsewhere, and the two parts whose fields stand in the table themselves. */
type Elsewhere = 'password' | 'owner' | 'suspendedUntil' | 'contacts' | 'limits';
type Values = Pick<Account, Exclude<keyof AccountChange, Elsewhere>> & Account['contacts'] & AccountLimits;
export type FieldName = keyof Values;

const MEGA = 1_000_000;
const GIGA = 1_000_000_000;

const FIELDS: { readonly [Name in FieldName]: AccountField<Values[Name]> } = {
  username: {
    ...text('account.username'),
    group: 'apart',
    read: (typed) => (typed.trim() === '' ? undefined : typed),
  },
  remarks: {
    ...text('account.remarks', undefined, true),
    read: (typed) => (typed.trim() === '' ? null : typed),
  },
  tags: {
    label: 'tags.title',
    text: tagsText,
    read: readTags,
    isWhole: true,
    Input: ({ value, onInput }) => <TagField label={t('tags.title')} value={value} onInput={onInput} />,
    fact: (tags) =>
      tags.map((tag) => (
        <a key={tag} class="tag" href={href(['accounts'], { tag })}>
          {tag}
        </a>
      )),
  },
  authorizedAddresses: {
    ...addresses('account.authorizedAddresses', 'account.authorizedAddresses.hint', 2),
    group: 'apart',
  },
  allowedClients: {
    ...addresses('account.allowedClients', 'account.allowedClients.hint', 6),
    group: 'access',
    none: 'account.allowedClients.all',
  },
  schedule: {
    ...text('account.schedule', 255),
    hint: () => t('account.schedule.hint', { zone: useUser()?.timeZone ?? '' }),
    group: 'access',
    none: 'account.schedule.always',
    words: (schedule) => (schedule ? scheduleWords(schedule) : undefined),
    fact: (schedule) => <Pieces of={scheduleEntries(schedule ?? '')} between={t('schedule.entries')} />,
  },
  exit: {
    ...named('exits', 'account.exit', 'account.exit.none'),
    hint: () => t('account.exit.hint'),
    words: (exit) => exit ?? t('account.exit.none'),
  },
  expiresAt: {
    label: 'account.expiresAt',
    group: 'apart',
    text: expiryText,
    initial: NEVER,
    read: readExpiry,
    isWhole: true,
    Input: ({ value, onInput }) => <ExpiryField value={value} onInput={onInput} />,
    words: (at) => (at === null ? expiry(at) : t('unit.note', { text: localTime(at), note: expiry(at) })),
  },
  isEnabled: {
    label: 'account.state',
    group: 'apart',
    text: String,
    initial: 'true',
    read: (typed) => typed === 'true',
    isWhole: true,
    Input: ({ value, onInput }) => (
      <Checkbox checked={value === 'true'} onChange={(on) => onInput(String(on))}>
        {t('account.state.enabled')}
      </Checkbox>
    ),
    words: (isEnabled) => t(isEnabled ? 'account.state.enabled' : 'account.state.disabled'),
  },
  email: { ...text('contacts.email', 254), group: 'contacts' },
  telegram: { ...text('contacts.telegram', 64), group: 'contacts' },
  language: {
    label: 'contacts.language',
    group: 'contacts',
    ...choice<Values['language']>(() =>
      optionsOf(['', 'zh', 'en'], (of) => t(`contacts.language.${of || 'none'}`)),
    ),
    words: (language) => (language ? t(`contacts.language.${language}`) : undefined),
  },
  maxSessions: limit('limits.maxSessions'),
  maxClientAddresses: limit('limits.maxClientAddresses'),
  bytesPerSecondDown: limit('limits.bytesPerSecondDown', MEGA, 'MB/s'),
  bytesPerSecondUp: limit('limits.bytesPerSecondUp', MEGA, 'MB/s'),
  quotaBytes: limit('limits.quotaBytes', GIGA, 'GB'),
  quotaPeriod: {
    label: 'limits.quotaPeriod',
    group: 'limits',
    initial: 'month',
    ...choice<Values['quotaPeriod']>(() =>
      optionsOf(['day', 'week', 'month', 'never'], (of) => t(`limits.period.${of}`)),
    ),
    words: (period) => t(`limits.period.${period}`),
  },
  egressClass: {
    ...named('egressClasses', 'limits.egressClass', 'limits.egressClass.none'),
    group: 'limits',
  },
  connectionsPerSecond: guarded('limits.connectionsPerSecond'),
  connectionsPerMinute: guarded('limits.connectionsPerMinute'),
  destinationsPerMinute: guarded('limits.destinationsPerMinute'),
  udpDestinationsPerSecond: guarded('limits.udpDestinationsPerSecond'),
  failedConnectionsPerMinute: guarded('limits.failedConnectionsPerMinute'),
  lookupsPerMinute: guarded('limits.lookupsPerMinute'),
  maxConnections: guarded('limits.maxConnections'),
};

const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];
const groupOf = (name: FieldName) => FIELDS[name].group ?? 'notes';
/** The fields of each group. */
export const NAMES = {
  all: FIELD_NAMES,
  limits: FIELD_NAMES.filter((name): name is keyof AccountLimits => groupOf(name) === 'limits'),
  contacts: FIELD_NAMES.filter((name) => groupOf(name) === 'contacts'),
  access: FIELD_NAMES.filter((name) => groupOf(name) === 'access'),
  notes: FIELD_NAMES.filter((name) => groupOf(name) === 'notes'),
};

export const isAccountField = (name: string): name is FieldName => name in FIELDS;
export const accountField = (name: FieldName): AccountField<unknown> => FIELDS[name];
