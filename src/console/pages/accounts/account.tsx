// One account. Its first part explains why a player cannot connect: every condition of a successful login, and whether it holds.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, Login } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, percent, scheduleWords } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go } from '../../lib/router.js';
import { Ago, At, Button, Card, Client, Meter, Permitted, State } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { Icon } from '../../ui/icons.js';
import { MoreActions } from '../../ui/list/selection-bar.js';
import { BackLink, Gone } from '../../ui/page.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import type { ActionName, RowActionsProps } from './actions.js';
import { ActionDialog, actionsOn, inMenu, isSuspendedByGuard } from './actions.js';
import { AccountActivity } from './activity.js';
import { accountState } from './columns.js';
import { AccountFacts } from './facts.js';
import { fieldValue } from './fields/field-words.js';
import { expiryOf, usePlans } from './fields/plans.js';
import { LinkCard } from './handover.js';

/** Those that have no button in the head of the page. */
const IN_MENU = new Set<ActionName>(['renew', 'end-sessions', 'disable']);

/** Also without a change of these topics: a login that fails changes neither. */
const KEPT_FRESH = { topics: ['accounts', 'sessions'], everyMs: 5_000 } as const;

export function AccountPage({ id }: { id: string }) {
  const loaded = useLoad('getAccount', { params: { id } }, KEPT_FRESH);
  const { data: account, error, reload } = loaded;
  const [acting, setActing] = useState<ActionName | null>(null);
  const plans = usePlans();
  const gone = <Gone icon="accounts" of="account.gone" to={['accounts']} back="account.gone.back" />;
  if (!account) return <WhenLoaded of={loaded} rows={12} gone={gone} />;
  const state = accountState(account);
  const close = () => setActing(null);
  const offered = actionsOn(account, plans);
  const inHead = offered.filter(({ name }) => !IN_MENU.has(name));
  const others = offered.filter(({ name }) => IN_MENU.has(name));
  return (
    <>
      <header class="page-head with-actions">
        <BackLink to={['accounts']} label={t('nav.accounts')} />
        <h1 class="whole">{account.username}</h1>
        <State tone={state.tone}>{state.text}</State>
        <span class="grow" />
        {inHead.map(({ name, text }) => (
          <Button key={name} kind={name === 'edit' ? 'primary' : 'plain'} onClick={() => setActing(name)}>
            {t(text)}
          </Button>
        ))}
        {others.length > 0 && <MoreActions actions={inMenu(others, setActing)} />}
      </header>
      {error && <Failure error={error} retry={reload} />}
      <div class="columns even">
        <LinkCard key={account.id} account={account} />
        <Diagnosis account={account} act={setActing} />
      </div>
      <AccountFacts account={account} />
      <AccountActivity account={account} />
      <Permitted to="deleteAccount">
        <Card title={t('account.dangerZone')} look="danger-zone">
          <div class="row wrap">
            <p class="grow">{t('account.delete.text', { n: account.dataCount })}</p>
            <AskButton
              kind="danger"
              text={t('account.delete')}
              typed={account.username}
              act={() => call('deleteAccount', { params: { id: account.id }, etag: account.etag })}
              done={t('account.deleted', { name: account.username })}
              after={() => go(['accounts'])}
            >
              <p>{t('account.delete.goes')}</p>
              <ul>
                <li>{t('account.delete.heartbeats', { n: account.dataCount })}</li>
                <li>{t('account.delete.sessions', { n: account.usage.sessions })}</li>
                <li>{t('account.delete.history')}</li>
              </ul>
            </AskButton>
          </div>
        </Card>
      </Permitted>
      {acting && <ActionDialog account={account} action={acting} onClose={close} onChanged={reload} />}
    </>
  );
}

/** Whether it holds, and what is said of it; nothing: the account has no such condition. `isSoft`: it stops no login, and is a warning. */
type Condition = readonly [key: string, ok: boolean, text: ComponentChildren, isSoft?: boolean];

/** Entries of the login history that are searched for the last failure, and for the last time that the guard slowed the account. */
const RECENT = 100;

function Diagnosis({ account, act }: Pick<RowActionsProps, 'account' | 'act'>) {
  const asked = { accountId: account.id, failed: true, limit: RECENT };
  const failures = useLoad('listLogins', { query: asked }, KEPT_FRESH);
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
      <strong>{t(`login.outcome.${login.outcome}`)}</strong> · <Client of={login} /> · <Ago at={login.at} />
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
