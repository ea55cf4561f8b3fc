// The facts of an account: remarks, dates, traffic, speed limits.
import type { Account } from '../../api-types.js';
import { bytes, count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { scheduleEntries } from '../../lib/schedule.js';
import { At, CopyButton, Pieces } from '../../ui/basics.js';
import { UnconfirmedContacts } from './contacts.js';
import { expiryOf } from './fields/plans.js';

export function Facts({ account }: { account: Account }) {
  const { limits, usage } = account;
  const contacts = contactList(account);
  const speed = (value: number | null) => (value === null ? t('limits.none') : rate(value));
  return (
    <section class="card">
      <h2>{t('account.facts')}</h2>
      <dl class="facts">
        <dt>{t('account.remarks')}</dt>
        <dd>{account.remarks ?? <span class="faint">—</span>}</dd>
        <dt>{t('tags.title')}</dt>
        <dd>
          {account.tags.length === 0 && <span class="faint">—</span>}
          {account.tags.map((tag) => (
            <a key={tag} class="tag" href={href(['accounts'], { tag })}>
              {tag}
            </a>
          ))}
        </dd>
        {account.owner && (
          <>
            <dt>{t('operators.owner')}</dt>
            <dd>
              <a href={href(['accounts'], { owner: account.owner.id })}>{account.owner.name}</a>
            </dd>
          </>
        )}
        <dt>{t('account.authorizedAddresses')}</dt>
        <dd>{account.authorizedAddresses.join(', ') || <span class="faint">—</span>}</dd>
        <dt>{t('account.allowedClients')}</dt>
        <dd class="break">
          {account.allowedClients.join(', ') || <span class="soft">{t('account.allowedClients.all')}</span>}
        </dd>
        <dt>{t('account.schedule')}</dt>
        <dd class="break">
          {account.schedule === null ? (
            <span class="soft">{t('account.schedule.always')}</span>
          ) : (
            <Pieces of={scheduleEntries(account.schedule)} between={t('schedule.entries')} />
          )}
        </dd>
        <dt>{t('contacts.title')}</dt>
        <dd class="break">
          {contacts.length === 0 ? <span class="faint">—</span> : <Pieces of={contacts} between=" · " />}
        </dd>
        <dt>{t('account.createdAt')}</dt>
        <dd>
          <At at={account.createdAt} />
        </dd>
        <dt>{t('account.expiresAt')}</dt>
        <dd>{account.expiresAt === null ? expiryOf(account) : <At at={account.expiresAt} />}</dd>
        <dt>{t('plans.choose')}</dt>
        <dd>{account.plan ?? <span class="faint">—</span>}</dd>
        <dt>{t('account.lastLoginAt')}</dt>
        <dd>
          <At at={account.lastLoginAt} />
        </dd>
        <dt>{t('account.dataCount')}</dt>
        <dd class="number">
          {count(account.dataCount)}
          {account.latestGameId !== null && (
            <>
              {' · '}
              <a href={href(['accounts'], { game: account.latestGameId })}>{account.latestGameId}</a>
            </>
          )}
        </dd>
        <dt>{t('account.total')}</dt>
        <dd class="number">
          ↓ {bytes(usage.totalBytesDown)} ↑ {bytes(usage.totalBytesUp)}
        </dd>
        <dt>{t('limits.speed')}</dt>
        <dd class="number">
          ↓ {speed(limits.bytesPerSecondDown)} ↑ {speed(limits.bytesPerSecondUp)}
        </dd>
        <dt>{t('limits.egressClass')}</dt>
        <dd>{limits.egressClass ?? <span class="soft">{t('limits.egressClass.none')}</span>}</dd>
        <dt>{t('account.id')}</dt>
        <dd>
          <code class="break">{account.id}</code> <CopyButton text={account.id} />
        </dd>
      </dl>
      {(account.contacts.email ?? account.contacts.telegram) !== null && (
        <UnconfirmedContacts account={account} />
      )}
    </section>
  );
}

function contactList({ contacts: { email, telegram, language } }: Account): readonly string[] {
  const parts = [email, telegram && `Telegram ${telegram}`, language && t(`contacts.language.${language}`)];
  return parts.filter((part) => part !== null);
}
