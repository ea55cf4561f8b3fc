// The columns of the list of accounts, and an account's state in one word.
import type { Account } from '../../api-types.js';
import { count, percent } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { AccountLink, Ago, Expiry, Meter, None, State, Tag, type Tone, Traffic } from '../../ui/basics.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { expiryOf } from './fields/plans.js';

export function accountState(account: Account): { tone: Tone; text: string } {
  const { limits, usage } = account;
  if (!account.isEnabled) return { tone: 'none', text: t('account.state.disabled') };
  if (account.suspendedUntil !== null) return { tone: 'bad', text: t('account.state.suspended') };
  if (account.isExpired) return { tone: 'bad', text: t('account.state.expired') };
  if (limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes) {
    return { tone: 'bad', text: t('account.state.overQuota') };
  }
  if (usage.sessions > 0) return { tone: 'good', text: t('account.state.online') };
  return {
    tone: 'none',
    text: account.lastLoginAt === null ? t('account.state.unused') : t('account.state.offline'),
  };
}

const nameOf = ({ id, username }: Account) => <AccountLink id={id} name={username} inTabOrder={false} />;

function AccountState({ account }: { account: Account }) {
  const { tone, text } = accountState(account);
  return <State tone={tone}>{text}</State>;
}

function AccountExpiry({ account, short = false }: { account: Account; short?: boolean }) {
  if (account.daysFromFirstLogin === null) return <Expiry at={account.expiresAt} short={short} />;
  return <span title={expiryOf(account)}>{expiryOf(account, short)}</span>;
}

function Quota({ account }: { account: Account }) {
  const { limits, usage } = account;
  if (limits.quotaBytes === null) return <None />;
  return (
    <span class="row number">
      <Meter value={usage.periodBytes} max={limits.quotaBytes} label={t('account.quota')} />
      {percent(usage.periodBytes, limits.quotaBytes)}
    </span>
  );
}

/** Returns the words of a search. Each is somewhere in an account that was found. */
export const wordsOf = (search = ''): readonly string[] => search.toLowerCase().match(/\S+/g) ?? [];

/** The texts in which the daemon searches, besides the user name. */
function searched(account: Account): readonly (readonly [string, string])[] {
  return [
    [t('account.remarks'), account.remarks ?? ''],
    ...account.tags.map((tag) => [t('tags.title'), tag] as const),
    [t('account.game'), account.latestGameId ?? ''],
    [t('contacts.email'), account.contacts.email ?? ''],
    [t('contacts.telegram'), account.contacts.telegram ?? ''],
    [t('account.id'), account.id],
  ];
}

/** The text from shortly before the word on, since a column shows only its beginning. */
function around(text: string, word: string): string {
  const from = text.toLowerCase().indexOf(word) - 8;
  return from > 0 ? `…${text.slice(from)}` : text;
}

/** Shows why a search found the account: the texts with words that its user name does not have. */
function FoundBy({ account, words }: { account: Account; words: readonly string[] }) {
  const has = (text: string, word: string) => text.toLowerCase().includes(word);
  const found = new Map<string, string>();
  for (const word of words) {
    if (has(account.username, word)) continue;
    const field = searched(account).find(([, text]) => has(text, word));
    if (field) found.set(field[1], t('unit.note', { text: around(field[1], word), note: field[0] }));
  }
  if (found.size === 0) return null;
  return <span class="found-by soft">{[...found.values()].join(' · ')}</span>;
}

interface ShownColumns {
  readonly owner: boolean;
  readonly words: readonly string[];
  /** null: the user may change no accounts. */
  readonly actions: Column<Account>['cell'] | null;
}

const STATE: Partial<Column<Account>> = {
  sort: '-sessions',
  width: 116,
  phone: {
    width: 112,
    align: 'end',
    cell: (one) => <Lines end of={[<AccountState account={one} />, <Ago at={one.lastLoginAt} />]} />,
  },
};

export function accountColumns({ owner, words, actions }: ShownColumns): readonly Column<Account>[] {
  const onPhone = (one: Account) => {
    const more = [one.latestGameId, one.tags.join(', ')].filter(Boolean);
    const terms = [<AccountExpiry account={one} short />, more.map((text) => ` · ${text}`)];
    return <Lines of={[nameOf(one), terms, <FoundBy account={one} words={words} />]} />;
  };
  const all: readonly Column<Account>[] = [
    column('username', 'account.username', { sort: 'username', phone: { cell: onPhone } }, (one) => (
      <div class="name-cell">
        {nameOf(one)}
        <FoundBy account={one} words={words} />
      </div>
    )),
    column('state', 'account.state', STATE, (one) => <AccountState account={one} />),
    column('expires', 'account.expiresAt', { sort: 'expiresAt', width: 112 }, (one) => (
      <AccountExpiry account={one} short />
    )),
    column('sessions', 'nav.sessions', { width: 72, from: 1100, align: 'end' }, (one) => (
      <>
        {one.usage.sessions}
        <span class="faint"> / {one.limits.maxSessions ?? '∞'}</span>
      </>
    )),
    column('today', 'account.today', { sort: '-todayBytes', width: 160, from: 910, align: 'end' }, (one) => (
      <Traffic up={one.todayBytesUp} down={one.todayBytesDown} />
    )),
    column('quota', 'account.quota', { sort: '-periodBytes', width: 128, from: 980 }, (one) => (
      <Quota account={one} />
    )),
    column('login', 'account.lastLoginAt', { sort: '-lastLoginAt', width: 104, from: 970 }, (one) => (
      <Ago at={one.lastLoginAt} />
    )),
    column('data', 'nav.heartbeats', { sort: '-dataCount', width: 84, from: 1300, align: 'end' }, (one) =>
      one.dataCount === 0 ? <None /> : count(one.dataCount),
    ),
    column(
      'game',
      'account.game',
      { sort: 'latestGameId', width: 104, from: 1200 },
      (one) => one.latestGameId ?? <None />,
    ),
    column('owner', 'operators.owner', { width: 100, from: 890 }, (one) =>
      one.owner === null ? (
        <None />
      ) : (
        <a class="plain" href={href(['accounts'], { owner: one.owner.id })} tabIndex={-1}>
          {one.owner.name}
        </a>
      ),
    ),
    column('created', 'account.createdAt', { sort: '-createdAt', width: 104, from: 1400 }, (one) => (
      <Ago at={one.createdAt} />
    )),
    column('total', 'account.total', { width: 184, from: 1500, align: 'end' }, (one) => (
      <Traffic up={one.usage.totalBytesUp} down={one.usage.totalBytesDown} />
    )),
    column('plan', 'plans.choose', { width: 104, from: 900 }, (one) => one.plan ?? <None />),
    column('remarks', 'account.tagsAndRemarks', { from: 700 }, (one) => (
      <span class="tags soft">
        {one.tags.map((tag) => [<Tag key={tag}>{tag}</Tag>, ' '])}
        {one.remarks}
      </span>
    )),
    ...(actions ? [column('actions', '', { width: 40, align: 'end', phone: { width: 28 } }, actions)] : []),
  ];
  return all.filter(({ key }) => key !== 'owner' || owner);
}
