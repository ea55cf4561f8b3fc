// Describes changed fields in words, for previews and for the audit log.
import type { Plan } from '../../../api-types.js';
import { bytes, count, localTime, rate } from '../../../lib/format.js';
import { isTextKey, type TextKey, t } from '../../../lib/i18n.js';
import { NOTICE_LABELS } from '../../notices/form.js';
import { accountField, type FieldName, isAccountField } from './account-fields.js';
import { daysWords, planLimitWords } from './plans.js';

/** The fields that neither accounts nor notices have. */
const FIELD_TEXTS: Readonly<Record<string, TextKey>> = {
  ...NOTICE_LABELS,
  plan: 'plans.choose',
  suspendedUntil: 'account.suspendedUntil',
  suspendReason: 'account.suspendReason',
  contacts: 'contacts.title',
  daysFromFirstLogin: 'plans.daysField',
  owner: 'operators.owner',
  gameId: 'account.game',
  templates: 'notices.templates',
  handover: 'notices.template.handover',
  host: 'publicAddress.host',
  port: 'publicAddress.port',
  recoveryCodes: 'recovery.title',
  zh: 'contacts.language.zh',
  en: 'contacts.language.en',
  current: 'admin.current',
  next: 'admin.next',
  whitelist: 'settings.whitelist',
  password: 'account.password',
  secondFactor: 'totp.title',
  name: 'tokens.name',
  scopes: 'tokens.scopes',
  rules: 'audit.rules',
  otherwise: 'pac.otherwise',
  kind: 'audit.address',
  role: 'operators.role',
  budgetAccounts: 'audit.budget.accounts',
  budgetDays: 'audit.budget.days',
  budgetBytes: 'audit.budget.bytes',
  client: 'sessions.client',
  code: 'login.code',
  days: 'plans.daysField',
  accounts: 'audit.budget.accounts',
  bytes: 'audit.budget.bytes',
  match: 'audit.rules',
  message: 'run.message',
  sessionKey: 'run.session',
  pattern: 'create.pattern',
  destination: 'sessions.destination',
  read: 'import.count.read',
  bulk: 'plans.use',
  count: 'audit.bulk.count',
};

/** By field: where its values have their texts. */
const WORDS: Readonly<Record<string, string>> = {
  role: 'operators.role',
  otherwise: 'pac',
  security: 'notices.security',
  bulk: 'bulk',
  suspendReason: 'login.outcome',
};

/** Returns the interface's word for a value that is not a user's text. */
function wordFor(name: string, value: unknown): TextKey | undefined {
  const known = `${WORDS[name]}.${value}`;
  if (isTextKey(known)) return known;
  if (name === 'bulk' && value === 'create') return 'audit.account.create';
  if ((name === 'operator' || name === 'players') && typeof value === 'boolean')
    return value ? 'audit.on' : 'audit.off';
  if (name === 'kind') return value === 'page' ? 'audit.address.page' : 'audit.address.pac';
  if (name === 'secondFactor') return value === true ? 'totp.on' : 'totp.off';
  if (name === 'owner' && value === null) return 'operators.administrator';
  // The audit log never contains a password, only the fact that it changed, or that there is one.
  if (value === '(hidden)') return 'audit.hidden';
  if (['password', 'templates', 'handover'].includes(name) && value !== null) return 'audit.changed';
  return undefined;
}

function isPlan(value: unknown): value is Plan {
  return typeof value === 'object' && value !== null && 'startsAtFirstLogin' in value && 'limits' in value;
}

export function showField(name: string, value: unknown): string {
  if (name === 'isEnabled' || name === 'expiresAt') return fieldValue(name, value);
  return t('audit.field', { field: fieldLabel(name), value: fieldValue(name, value) });
}

/** `email.port` is a field of a channel of notices. */
export function fieldLabel(name: string): string {
  const [channel = '', field] = name.split('.');
  const channelText = `notices.channel.${channel}`;
  if (field !== undefined && isTextKey(channelText)) {
    // The host of a channel is not the one of links.
    const label = field === 'host' ? t('notices.host') : fieldLabel(field);
    return `${t(channelText)} · ${label}`;
  }
  const known = isAccountField(name)
    ? accountField(name).label
    : (FIELD_TEXTS[name] ?? [`retention.${name}`, `import.outcome.${name}`].find(isTextKey));
  return known ? t(known) : name;
}

export function fieldValue(path: string, value: unknown): string {
  const name = path.split('.').at(-1) ?? path;
  const own = isAccountField(name) ? accountField(name).words?.(value) : undefined;
  if (own !== undefined) return own;
  if (name === 'daysFromFirstLogin' && typeof value === 'number') return t('expiry.fromLogin', { n: value });
  if (name === 'suspendedUntil' && typeof value === 'string')
    return value >= '9' ? t('account.untilLifted') : localTime(value);
  const word = wordFor(name, value);
  if (word) return t(word);
  if (isEmpty(value)) return '—';
  if (Array.isArray(value)) return value.map(itemWords).join(', ');
  if (typeof value === 'number') return numberWords(name, value);
  if (isPlan(value)) return `${daysWords(value)} · ${planLimitWords(value.limits)}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The value of a field of an account, also when it has none. */
export function accountWords(name: FieldName, value: unknown): string {
  const { none } = accountField(name);
  return none && isEmpty(value) ? t(none) : fieldValue(name, value);
}

export const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** An item of a list. A game rule is named by its GameID, or by the pattern that finds it. */
function itemWords(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  const { id, gameId } = item as { readonly id?: unknown; readonly gameId?: unknown };
  return String(id ?? gameId ?? JSON.stringify(item));
}

function numberWords(name: string, value: number): string {
  // The number of a port is no quantity.
  if (name === 'port') return String(value);
  if (name.includes('PerSecond')) return rate(value);
  return name.toLowerCase().includes('bytes') ? bytes(value) : count(value);
}

/** SOCKS carries at most so many bytes of a user name and of a password (RFC 1929 §2). */
const MAX_BYTES = 255;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const tooManyBytes = (text: string): boolean => bytesOf(text) > MAX_BYTES;

/** The error of a field whose text is too long: it says so, and cuts nothing off. undefined: the text fits. */
export const lengthError = (text: string): string | undefined =>
  tooManyBytes(text) ? t('account.tooLong', { n: bytesOf(text), max: MAX_BYTES }) : undefined;
