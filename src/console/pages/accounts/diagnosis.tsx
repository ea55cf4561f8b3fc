// Explains why a player cannot connect: lists every condition of a successful login, and whether it holds.
import type { ComponentChildren } from 'preact';
import type { Account, Login } from '../../api-types.js';
import { bytes, percent, scheduleWords } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Ago, At, Client, Meter, Permitted, State } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { type ActionName, isSuspendedByGuard } from './actions.js';
import { fieldValue } from './fields/field-words.js';
import { expiryOf } from './fields/plans.js';

interface Condition {
  readonly key: string;
  readonly ok: boolean;
  readonly isSoft?: boolean;
  /** Left out: the account has no such condition. */
  readonly text: ComponentChildren;
}

/** Entries of the login history that are searched for the last failure, and for the last time that the guard slowed the account. */
const RECENT = 100;

interface DiagnosisProps {
  readonly account: Account;
  readonly act: (action: ActionName) => void;
}

export function Diagnosis({ account, act }: DiagnosisProps) {
  const failures = useLoad(
    'listLogins',
    { query: { accountId: account.id, failed: true, limit: RECENT } },
    // A login that fails changes neither topic.
    { topics: ['accounts', 'sessions'], everyMs: 5_000 },
  );
  const items = failures.data?.items;
  const slowed = items?.find(({ outcome }) => outcome === 'slowed');
  const last = items?.find(({ outcome }) => outcome !== 'slowed');
  const { limits, usage } = account;
  const byGuard = isSuspendedByGuard(account);
  const overQuota = limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes;
  const fullSessions = limits.maxSessions !== null && usage.sessions >= limits.maxSessions;
  const fullAddresses =
    limits.maxClientAddresses !== null && usage.clientAddresses >= limits.maxClientAddresses;
  /** In the order in which a login meets them. What does not hold stops every login, unless it is soft: a warning. */
  const checks: readonly Condition[] = [
    {
      key: 'enabled',
      ok: account.isEnabled,
      text: t(account.isEnabled ? 'diagnosis.enabled' : 'diagnosis.disabled'),
    },
    {
      key: 'suspended',
      ok: account.suspendedUntil === null,
      text: account.suspendedUntil !== null && (
        <>
          {t(byGuard ? 'diagnosis.suspended' : 'diagnosis.suspendedFor', {
            reason: fieldValue('suspendReason', account.suspendReason),
            until: fieldValue('suspendedUntil', account.suspendedUntil),
          })}{' '}
          <Permitted to={byGuard ? 'egress:write' : 'changeAccounts'}>
            <button type="button" class="link" onClick={() => act('resume')}>
              {t('bulk.resume')}
            </button>
          </Permitted>
        </>
      ),
    },
    { key: 'expiry', ok: !account.isExpired, text: expiryOf(account) },
    {
      key: 'quota',
      ok: !overQuota,
      text: <Quota account={account} ok={!overQuota} onReset={() => act('reset-usage')} />,
    },
    {
      key: 'schedule',
      ok: !account.isOutsideSchedule,
      text: account.schedule !== null && <Schedule account={account} schedule={account.schedule} />,
    },
    {
      key: 'clients',
      ok: true,
      text:
        account.allowedClients.length > 0 &&
        t('diagnosis.allowedClients', { list: account.allowedClients.join(', ') }),
    },
    {
      key: 'sessions',
      ok: !fullSessions,
      text: t('diagnosis.sessions', { n: usage.sessions, max: limits.maxSessions ?? '∞' }),
    },
    {
      key: 'addresses',
      ok: !fullAddresses,
      isSoft: true,
      text: t('diagnosis.addresses', { n: usage.clientAddresses, max: limits.maxClientAddresses ?? '∞' }),
    },
    {
      key: 'slowed',
      ok: false,
      isSoft: true,
      text: slowed && <LastOf login={slowed} label={t('diagnosis.lastSlowed')} />,
    },
    {
      key: 'last',
      ok: !last,
      isSoft: true,
      text: last ? (
        <LastOf login={last} label={t('diagnosis.lastFailure')} />
      ) : (
        // Behind many that were slowed there may be one.
        items && items.length < RECENT && t('diagnosis.noFailures')
      ),
    },
  ];
  const isReason = ({ ok, isSoft }: Condition) => !ok && !isSoft;
  const blocked = checks.some(isReason);
  return (
    <section class="card diagnosis">
      <h2>
        {t('diagnosis.title')}{' '}
        <State tone={blocked ? 'bad' : 'good'}>{t(blocked ? 'diagnosis.no' : 'diagnosis.yes')}</State>
      </h2>
      {blocked ? (
        <>
          <Checks of={checks.filter(isReason)} />
          <details>
            <summary class="soft">{t('diagnosis.rest')}</summary>
            <Checks of={checks.filter((each) => !isReason(each))} />
          </details>
        </>
      ) : (
        <Checks of={checks} />
      )}
    </section>
  );
}

function Schedule({ account, schedule }: { account: Account; schedule: string }) {
  const { isOutsideSchedule, scheduleChangesAt } = account;
  return (
    <>
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
    </>
  );
}

interface QuotaProps {
  readonly account: Account;
  readonly ok: boolean;
  readonly onReset: () => void;
}

/** The line of a quota, with the button that sets its use to zero. */
function Quota({ account: { limits, usage }, ok, onReset }: QuotaProps) {
  const { quotaBytes } = limits;
  const period = t(`limits.period.${limits.quotaPeriod}`);
  if (quotaBytes === null) return <>{t('diagnosis.noQuota')}</>;
  return (
    <>
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
        <Permitted to="changeAccounts">
          <button type="button" class="link" onClick={onReset}>
            {t('bulk.reset-usage')}
          </button>
        </Permitted>
      )}
    </>
  );
}

function LastOf({ login, label }: { login: Login; label: string }) {
  return (
    <>
      {label}
      <strong>{t(`login.outcome.${login.outcome}`)}</strong> ·{' '}
      <Client address={login.client} origin={login.clientOrigin} /> · <Ago at={login.at} />
    </>
  );
}

function Checks({ of }: { of: readonly Condition[] }) {
  return (
    <ul class="checks stack close">
      {of.map(
        ({ key, ok, isSoft, text }) =>
          text && (
            <li key={key} class={ok ? 'good' : isSoft ? 'warn' : 'bad'}>
              <Icon name={ok ? 'check' : isSoft ? 'warn' : 'close'} />
              <span>{text}</span>
            </li>
          ),
      )}
    </ul>
  );
}
