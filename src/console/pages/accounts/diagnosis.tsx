// Explains why a player cannot connect: lists every condition of a successful login, and whether it holds.
import type { ComponentChildren } from 'preact';
import type { Account, Login } from '../../api-types.js';
import { bytes, percent, scheduleWords } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Ago, At, Button, Client, Meter, Permitted, State } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { isSuspendedByGuard, type RowActionsProps } from './actions.js';
import { fieldValue } from './fields/field-words.js';
import { expiryOf } from './fields/plans.js';

/** Whether it holds, and what is said of it; nothing: the account has no such condition. `isSoft`: it stops no login, and is a warning. */
type Condition = readonly [key: string, ok: boolean, text: ComponentChildren, isSoft?: boolean];

/** Entries of the login history that are searched for the last failure, and for the last time that the guard slowed the account. */
const RECENT = 100;

export function Diagnosis({ account, act }: Pick<RowActionsProps, 'account' | 'act'>) {
  const failures = useLoad(
    'listLogins',
    { query: { accountId: account.id, failed: true, limit: RECENT } },
    // A login that fails changes neither topic.
    { topics: ['accounts', 'sessions'], everyMs: 5_000 },
  );
  const items = failures.data?.items;
  const slowed = items?.find(({ outcome }) => outcome === 'slowed');
  const last = items?.find(({ outcome }) => outcome !== 'slowed');
  const isAll = items !== undefined && items.length < RECENT;
  const { limits, usage, allowedClients: clients } = account;
  const isSuspended = account.suspendedUntil !== null;
  const overQuota = limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes;
  const fullSessions = limits.maxSessions !== null && usage.sessions >= limits.maxSessions;
  const fullAddresses =
    limits.maxClientAddresses !== null && usage.clientAddresses >= limits.maxClientAddresses;
  const most = (max: number | null) => max ?? '∞';
  /** In the order in which a login meets them. */
  const checks: readonly Condition[] = [
    ['enabled', account.isEnabled, t(account.isEnabled ? 'diagnosis.enabled' : 'diagnosis.disabled')],
    [
      'suspended',
      !isSuspended,
      isSuspended && <Suspension account={account} onResume={() => act('resume')} />,
    ],
    ['expiry', !account.isExpired, expiryOf(account)],
    ['quota', !overQuota, <Quota account={account} ok={!overQuota} onReset={() => act('reset-usage')} />],
    ['schedule', !account.isOutsideSchedule, account.schedule !== null && <Schedule account={account} />],
    ['clients', true, clients.length > 0 && t('diagnosis.allowedClients', { list: clients.join(', ') })],
    [
      'sessions',
      !fullSessions,
      t('diagnosis.sessions', { n: usage.sessions, max: most(limits.maxSessions) }),
    ],
    [
      'addresses',
      !fullAddresses,
      t('diagnosis.addresses', { n: usage.clientAddresses, max: most(limits.maxClientAddresses) }),
      true,
    ],
    ['slowed', false, slowed && <LastOf login={slowed} label={t('diagnosis.lastSlowed')} />, true],
    // Behind many that were slowed there may be one.
    [
      'last',
      !last,
      last ? <LastOf login={last} label={t('diagnosis.lastFailure')} /> : isAll && t('diagnosis.noFailures'),
      true,
    ],
  ];
  const isReason = ([, ok, , isSoft]: Condition) => !ok && !isSoft;
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

function Suspension({ account, onResume }: { account: Account; onResume: () => void }) {
  const { suspendReason, suspendedUntil } = account;
  const byGuard = isSuspendedByGuard(account);
  return (
    <>
      {t(byGuard ? 'diagnosis.suspended' : 'diagnosis.suspendedFor', {
        reason: fieldValue('suspendReason', suspendReason),
        until: fieldValue('suspendedUntil', suspendedUntil),
      })}{' '}
      <Permitted to={byGuard ? 'egress:write' : 'changeAccounts'}>
        <Button kind="link" onClick={onResume}>
          {t('bulk.resume')}
        </Button>
      </Permitted>
    </>
  );
}

function Schedule({ account }: { account: Account }) {
  const { schedule, isOutsideSchedule, scheduleChangesAt } = account;
  return (
    <>
      {t(isOutsideSchedule ? 'diagnosis.schedule.closed' : 'diagnosis.schedule.open', {
        schedule: scheduleWords(schedule ?? ''),
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

/** The line of a quota, with the button that sets its use to zero. */
function Quota({ account, ok, onReset }: { account: Account; ok: boolean; onReset: () => void }) {
  const { limits, usage } = account;
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
          <Button kind="link" onClick={onReset}>
            {t('bulk.reset-usage')}
          </Button>
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
        ([key, ok, text, isSoft]) =>
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
