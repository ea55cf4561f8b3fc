// The facts of an account: remarks, dates, traffic, speed limits.
import type { Account } from '../../api-types.js';
import { bytes, count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { scheduleEntries } from '../../lib/schedule.js';
import { At, CopyButton, Fact, Pieces } from '../../ui/basics.js';
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
        <Fact label={t('account.remarks')}>{account.remarks ?? <span class="faint">—</span>}</Fact>
        <Fact label={t('tags.title')}>
          {account.tags.length === 0 && <span class="faint">—</span>}
          {account.tags.map((tag) => (
            <a key={tag} class="tag" href={href(['accounts'], { tag })}>
              {tag}
            </a>
          ))}
        </Fact>
        {account.owner && (
          <Fact label={t('operators.owner')}>
            <a href={href(['accounts'], { owner: account.owner.id })}>{account.owner.name}</a>
          </Fact>
        )}
        <Fact label={t('account.authorizedAddresses')}>
          {account.authorizedAddresses.join(', ') || <span class="faint">—</span>}
        </Fact>
        <Fact label={t('account.allowedClients')} look="break">
          {account.allowedClients.join(', ') || <span class="soft">{t('account.allowedClients.all')}</span>}
        </Fact>
        <Fact label={t('account.schedule')} look="break">
          {account.schedule === null ? (
            <span class="soft">{t('account.schedule.always')}</span>
          ) : (
            <Pieces of={scheduleEntries(account.schedule)} between={t('schedule.entries')} />
          )}
        </Fact>
        <Fact label={t('contacts.title')} look="break">
          {contacts.length === 0 ? <span class="faint">—</span> : <Pieces of={contacts} between=" · " />}
        </Fact>
        <Fact label={t('account.createdAt')}>
          <At at={account.createdAt} />
        </Fact>
        <Fact label={t('account.expiresAt')}>
          {account.expiresAt === null ? expiryOf(account) : <At at={account.expiresAt} />}
        </Fact>
        <Fact label={t('plans.choose')}>{account.plan ?? <span class="faint">—</span>}</Fact>
        <Fact label={t('account.lastLoginAt')}>
          <At at={account.lastLoginAt} />
        </Fact>
        <Fact label={t('account.dataCount')} look="number">
          {count(account.dataCount)}
          {account.latestGameId !== null && (
            <>
              {' · '}
              <a href={href(['accounts'], { game: account.latestGameId })}>{account.latestGameId}</a>
            </>
          )}
        </Fact>
        <Fact label={t('account.total')} look="number">
          ↓ {bytes(usage.totalBytesDown)} ↑ {bytes(usage.totalBytesUp)}
        </Fact>
        <Fact label={t('limits.speed')} look="number">
          ↓ {speed(limits.bytesPerSecondDown)} ↑ {speed(limits.bytesPerSecondUp)}
        </Fact>
        <Fact label={t('limits.egressClass')}>
          {limits.egressClass ?? <span class="soft">{t('limits.egressClass.none')}</span>}
        </Fact>
        <Fact label={t('account.id')}>
          <code class="break">{account.id}</code> <CopyButton text={account.id} />
        </Fact>
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
