// One account. Its first part answers "why can this player not connect?".
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Account, CredentialsInFormats, Login } from '../api-types.js';
import { ApiError, call } from '../lib/api.js';
import { listAddress } from '../lib/arrival.js';
import { bytes, count, expiry, percent, rate } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { go, href } from '../lib/router.js';
import { Ago, At, Button, CopyButton, Meter, State } from '../ui/basics.js';
import { Confirm } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { Empty, Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import { AccountActivity } from './account-activity.js';
import { EditDialog } from './account-edit.js';
import { accountState } from './accounts.js';
import { BulkDialog } from './bulk.js';
import { CredentialsDialog } from './credentials.js';
import { PasswordDialog } from './password-dialog.js';

type Asking = 'edit' | 'extend' | 'enable' | 'disable' | 'password' | 'usage' | 'delete' | null;

export function AccountPage({ id }: { id: string }) {
  const {
    data: account,
    error,
    reload,
  } = useLoad('getAccount', { params: { id } }, { topics: ['accounts', 'sessions'], everyMs: 5_000 });
  const [asking, setAsking] = useState<Asking>(null);
  const [credentials, setCredentials] = useState<CredentialsInFormats | null>(null);
  if (!account) {
    if (error instanceof ApiError && error.code === 'not-found') return <Gone />;
    return error ? <Failure error={error} retry={reload} /> : <Skeleton rows={12} />;
  }
  const state = accountState(account);
  const done = () => {
    setAsking(null);
    reload();
  };
  return (
    <>
      <header class="page-head">
        <a class="button quiet icon-only" href={listAddress(['accounts'])} aria-label={t('nav.accounts')}>
          <Icon name="back" />
        </a>
        <h1 class="break">{account.username}</h1>
        <State tone={state.tone}>{state.text}</State>
        <span class="grow" />
        <Button onClick={() => setAsking('extend')}>{t('bulk.extend')}</Button>
        <Button onClick={() => setAsking(account.isEnabled ? 'disable' : 'enable')}>
          {t(account.isEnabled ? 'bulk.disable' : 'bulk.enable')}
        </Button>
        <Button onClick={() => setAsking('password')}>{t('account.passwordAndLink')}</Button>
        <Button kind="primary" onClick={() => setAsking('edit')}>
          {t('account.edit')}
        </Button>
      </header>
      {error && <Failure error={error} retry={reload} />}
      <div class="columns">
        <Diagnosis account={account} onReset={() => setAsking('usage')} />
        <Facts account={account} />
      </div>
      <AccountActivity account={account} />
      <section class="card danger-zone">
        <h2>{t('account.dangerZone')}</h2>
        <div class="row wrap">
          <p class="grow">{t('account.delete.text', { n: account.dataCount })}</p>
          <Button kind="danger" onClick={() => setAsking('delete')}>
            {t('account.delete')}
          </Button>
        </div>
      </section>
      {asking === 'edit' && <EditDialog account={account} onClose={() => setAsking(null)} onDone={done} />}
      {(asking === 'extend' || asking === 'enable' || asking === 'disable') && (
        <BulkDialog
          type={asking}
          target={{ ids: [account.id] }}
          onClose={() => setAsking(null)}
          onDone={done}
        />
      )}
      {asking === 'password' && (
        <PasswordDialog
          account={account}
          onClose={() => setAsking(null)}
          onShown={(shown) => {
            setCredentials(shown);
            done();
          }}
        />
      )}
      {asking === 'usage' && (
        <Confirm
          title={t('account.resetUsage')}
          action={t('account.resetUsage')}
          onClose={() => setAsking(null)}
          act={async () => {
            await call('resetAccountUsage', { params: { id } });
            notify(t('account.usageReset'));
            reload();
          }}
        >
          <p>
            {t('account.resetUsage.text', {
              name: account.username,
              used: bytes(account.usage.periodBytes),
              period: t(`limits.period.${account.limits.quotaPeriod}`),
            })}
          </p>
        </Confirm>
      )}
      {asking === 'delete' && <DeleteDialog account={account} onClose={() => setAsking(null)} />}
      {credentials && <CredentialsDialog credentials={credentials} onClose={() => setCredentials(null)} />}
    </>
  );
}

function Gone() {
  return (
    <Empty
      icon="accounts"
      title={t('account.gone')}
      action={
        <a class="button" href={href(['accounts'])}>
          {t('nav.accounts')}
        </a>
      }
    >
      {t('account.gone.text')}
    </Empty>
  );
}

function DeleteDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  return (
    <Confirm
      title={t('account.delete')}
      action={t('account.delete')}
      danger
      typed={account.username}
      onClose={onClose}
      act={async () => {
        await call('deleteAccount', { params: { id: account.id }, etag: account.etag });
        notify(t('account.deleted', { name: account.username }));
        go(['accounts']);
      }}
    >
      <p>{t('account.delete.goes')}</p>
      <ul>
        <li>{t('account.delete.heartbeats', { n: account.dataCount })}</li>
        <li>{t('account.delete.sessions', { n: account.usage.sessions })}</li>
        <li>{t('account.delete.history')}</li>
      </ul>
    </Confirm>
  );
}

/** Each thing that must hold for a login to succeed, and whether it does. */
function Diagnosis({ account, onReset }: { account: Account; onReset: () => void }) {
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
  const blocked = !account.isEnabled || account.isExpired || overQuota || fullSessions;
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
        <Check ok={!account.isExpired}>{expiry(account.expiresAt)}</Check>
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
          <li class="indented">
            <button type="button" class="link" onClick={onReset}>
              {t('account.resetUsage')}
            </button>
          </li>
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
      {t('diagnosis.lastFailure')} <strong>{t(`login.outcome.${login.outcome}`)}</strong> ·{' '}
      <code>{login.client}</code> · <Ago at={login.at} />
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

function Facts({ account }: { account: Account }) {
  const { limits, usage } = account;
  const speed = (value: number | null) => (value === null ? t('limits.none') : rate(value));
  return (
    <section class="card">
      <h2>{t('account.facts')}</h2>
      <dl class="facts">
        <dt>{t('account.remarks')}</dt>
        <dd>{account.remarks ?? <span class="faint">—</span>}</dd>
        <dt>{t('account.createdAt')}</dt>
        <dd>
          <At at={account.createdAt} />
        </dd>
        <dt>{t('account.expiresAt')}</dt>
        <dd>{account.expiresAt === null ? expiry(null) : <At at={account.expiresAt} />}</dd>
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
    </section>
  );
}
