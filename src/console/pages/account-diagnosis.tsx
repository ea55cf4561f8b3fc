// Explains why a player cannot connect: lists every condition of a successful login, and whether it holds.
import type { ComponentChildren } from 'preact';
import type { Account, Login } from '../api-types.js';
import { bytes, percent } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { scheduleWords } from '../lib/schedule.js';
import { Ago, At, Meter, State } from '../ui/basics.js';
import { Icon } from '../ui/icons.js';
import { Permitted } from '../ui/permitted.js';
import { expiryOf } from './plans.js';

export function Diagnosis({ account, onReset }: { account: Account; onReset: () => void }) {
  const failures = useLoad(
    'listLogins',
    { query: { accountId: account.id, failed: true, limit: 1 } },
    { topics: ['accounts', 'sessions'] },
  );
  const last = failures.data?.items[0];
  const { limits, usage } = account;
  const overQuota = limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes;
  const fullSessions = limits.maxSessions !== null && usage.sessions >= limits.maxSessions;
  const fullAddresses =
    limits.maxClientAddresses !== null && usage.clientAddresses >= limits.maxClientAddresses;
  const blocked =
    !account.isEnabled || account.isExpired || account.isOutsideSchedule || overQuota || fullSessions;
  return (
    <section class="card diagnosis">
      <h2>
        {t('diagnosis.title')}{' '}
        <State tone={blocked ? 'bad' : 'good'}>{t(blocked ? 'diagnosis.no' : 'diagnosis.yes')}</State>
      </h2>
      <ul class="checks">
        <Check ok={account.isEnabled}>
          {t(account.isEnabled ? 'diagnosis.enabled' : 'diagnosis.disabled')}
        </Check>
        <Check ok={!account.isExpired}>{expiryOf(account)}</Check>
        <Check ok={!overQuota}>
          {limits.quotaBytes === null ? (
            t('diagnosis.noQuota')
          ) : (
            <>
              {t('diagnosis.quota', {
                used: bytes(usage.periodBytes),
                quota: bytes(limits.quotaBytes),
                share: percent(usage.periodBytes, limits.quotaBytes),
                period: t(`limits.period.${limits.quotaPeriod}`),
              })}
              <Meter value={usage.periodBytes} max={limits.quotaBytes} label={t('account.quota')} />
            </>
          )}
        </Check>
        {usage.periodBytes > 0 && (
          <Permitted to="resetAccountUsage">
            <li class="indented">
              <button type="button" class="link" onClick={onReset}>
                {t('account.resetUsage')}
              </button>
            </li>
          </Permitted>
        )}
        {account.schedule !== null && (
          <Check ok={!account.isOutsideSchedule}>
            {t(account.isOutsideSchedule ? 'diagnosis.schedule.closed' : 'diagnosis.schedule.open', {
              schedule: scheduleWords(account.schedule),
            })}
            {account.scheduleChangesAt !== null && (
              <>
                {' · '}
                {t(account.isOutsideSchedule ? 'diagnosis.schedule.opensAt' : 'diagnosis.schedule.closesAt')}{' '}
                <At at={account.scheduleChangesAt} />
              </>
            )}
          </Check>
        )}
        {account.allowedClients.length > 0 && (
          <Check ok soft>
            {t('diagnosis.allowedClients', { list: account.allowedClients.join(', ') })}
          </Check>
        )}
        <Check ok={!fullSessions}>
          {t('diagnosis.sessions', { n: usage.sessions, max: limits.maxSessions ?? '∞' })}
        </Check>
        <Check ok={!fullAddresses} soft>
          {t('diagnosis.addresses', { n: usage.clientAddresses, max: limits.maxClientAddresses ?? '∞' })}
        </Check>
        {last ? <LastFailure login={last} /> : failures.data && <Check ok>{t('diagnosis.noFailures')}</Check>}
      </ul>
    </section>
  );
}

function LastFailure({ login }: { login: Login }) {
  return (
    <Check ok={false} soft>
      {t('diagnosis.lastFailure')}
      <strong>{t(`login.outcome.${login.outcome}`)}</strong> · <code>{login.client}</code> ·{' '}
      <Ago at={login.at} />
    </Check>
  );
}

function Check({ ok, soft = false, children }: { ok: boolean; soft?: boolean; children: ComponentChildren }) {
  const tone = ok ? 'good' : soft ? 'warn' : 'bad';
  return (
    <li class={tone}>
      <Icon name={ok ? 'check' : soft ? 'warn' : 'cross'} />
      <span>{children}</span>
    </li>
  );
}
