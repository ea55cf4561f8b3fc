// Explains why a player cannot connect: lists every condition of a successful login, and whether it holds.
import type { ComponentChildren } from 'preact';
import type { Account, Login } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, percent } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { scheduleWords } from '../../lib/schedule.js';
import { Ago, At, Meter, State } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { Icon } from '../../ui/icons.js';
import { notify } from '../../ui/toast.js';
import { expiryOf } from './fields/plans.js';

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
  /** In the order in which a login meets them. A reason stops every login, the others are conditions that hold, and warnings. */
  const checks: readonly { readonly isReason: boolean; readonly line: ComponentChildren }[] = [
    {
      isReason: !account.isEnabled,
      line: (
        <Check key="enabled" ok={account.isEnabled}>
          {t(account.isEnabled ? 'diagnosis.enabled' : 'diagnosis.disabled')}
        </Check>
      ),
    },
    {
      isReason: account.isExpired,
      line: (
        <Check key="expiry" ok={!account.isExpired}>
          {expiryOf(account)}
        </Check>
      ),
    },
    {
      isReason: overQuota,
      line: <QuotaCheck key="quota" account={account} ok={!overQuota} onReset={onReset} />,
    },
    {
      isReason: account.isOutsideSchedule,
      line: account.schedule !== null && (
        <ScheduleCheck key="schedule" account={account} schedule={account.schedule} />
      ),
    },
    {
      isReason: false,
      line: account.allowedClients.length > 0 && (
        <Check key="clients" ok soft>
          {t('diagnosis.allowedClients', { list: account.allowedClients.join(', ') })}
        </Check>
      ),
    },
    {
      isReason: fullSessions,
      line: (
        <Check key="sessions" ok={!fullSessions}>
          {t('diagnosis.sessions', { n: usage.sessions, max: limits.maxSessions ?? '∞' })}
        </Check>
      ),
    },
    {
      isReason: false,
      line: (
        <Check key="addresses" ok={!fullAddresses} soft>
          {t('diagnosis.addresses', { n: usage.clientAddresses, max: limits.maxClientAddresses ?? '∞' })}
        </Check>
      ),
    },
    {
      isReason: false,
      line: last ? (
        <LastFailure key="last" login={last} />
      ) : (
        failures.data && (
          <Check key="last" ok>
            {t('diagnosis.noFailures')}
          </Check>
        )
      ),
    },
  ];
  return (
    <section class="card diagnosis">
      <h2>
        {t('diagnosis.title')}{' '}
        <State tone={blocked ? 'bad' : 'good'}>{t(blocked ? 'diagnosis.no' : 'diagnosis.yes')}</State>
      </h2>
      {blocked ? (
        <>
          <ul class="checks">{checks.filter(({ isReason }) => isReason).map(({ line }) => line)}</ul>
          <details>
            <summary class="soft">{t('diagnosis.rest')}</summary>
            <ul class="checks">{checks.filter(({ isReason }) => !isReason).map(({ line }) => line)}</ul>
          </details>
        </>
      ) : (
        <ul class="checks">{checks.map(({ line }) => line)}</ul>
      )}
    </section>
  );
}

function ScheduleCheck({ account, schedule }: { account: Account; schedule: string }) {
  const { isOutsideSchedule, scheduleChangesAt } = account;
  return (
    <Check ok={!isOutsideSchedule}>
      {t(isOutsideSchedule ? 'diagnosis.schedule.closed' : 'diagnosis.schedule.open', {
        schedule: scheduleWords(schedule),
      })}
      {scheduleChangesAt !== null && (
        <>
          {' · '}
          {t(isOutsideSchedule ? 'diagnosis.schedule.opensAt' : 'diagnosis.schedule.closesAt')}{' '}
          <At at={scheduleChangesAt} />
        </>
      )}
    </Check>
  );
}

/** The line of a quota, with the button that sets its use to zero. */
function QuotaCheck({
  account: { id, username, limits, usage },
  ok,
  onReset,
}: {
  account: Account;
  ok: boolean;
  onReset: () => void;
}) {
  const { quotaBytes } = limits;
  const period = t(`limits.period.${limits.quotaPeriod}`);
  if (quotaBytes === null) return <Check ok>{t('diagnosis.noQuota')}</Check>;
  return (
    <Check ok={ok}>
      {t('diagnosis.quota', {
        used: bytes(usage.periodBytes),
        quota: bytes(quotaBytes),
        share: percent(usage.periodBytes, quotaBytes),
        period,
      })}
      <Meter value={usage.periodBytes} max={quotaBytes} label={t('account.quota')} />
      {!ok && usage.periodEndsAt !== null && (
        <span class="until">
          {t('diagnosis.quotaUntil')} <At at={usage.periodEndsAt} />
        </span>
      )}
      {usage.periodBytes > 0 && (
        <AskButton
          right="resetAccountUsage"
          kind="link"
          text={t('account.resetUsage')}
          act={async () => {
            await call('resetAccountUsage', { params: { id } });
            notify(t('account.usageReset'));
            onReset();
          }}
        >
          <p>{t('account.resetUsage.text', { name: username, used: bytes(usage.periodBytes), period })}</p>
        </AskButton>
      )}
    </Check>
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
