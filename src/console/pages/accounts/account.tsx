// One account. Its first part explains why a player cannot connect.
import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go } from '../../lib/router.js';
import { Button, Card, Permitted, PermittedButton, State } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { BackLink, Gone } from '../../ui/list/list.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { AccountActivity } from './activity.js';
import { BulkDialog } from './bulk/bulk-dialog.js';
import { accountState } from './columns.js';
import { Diagnosis } from './diagnosis.js';
import { EditDialog } from './edit.js';
import { AccountFacts } from './facts.js';
import { usePlans } from './fields/plans.js';
import { type HandedOver, HandoverDialog } from './handover.js';
import { PasswordDialog } from './password-dialog.js';
import { Subscription } from './subscription.js';

type Asking = 'edit' | 'extend' | 'plan' | 'enable' | 'disable' | 'password' | null;

export function AccountPage({ id }: { id: string }) {
  const loaded = useLoad(
    'getAccount',
    { params: { id } },
    { topics: ['accounts', 'sessions'], everyMs: 5_000 },
  );
  const { data: account, error, reload } = loaded;
  const [asking, setAsking] = useState<Asking>(null);
  const plans = usePlans();
  const [handedOver, setHandedOver] = useState<HandedOver | null>(null);
  const gone = (
    <Gone
      icon="accounts"
      title={t('account.gone')}
      text={t('account.gone.text')}
      to={['accounts']}
      back={t('account.gone.back')}
    />
  );
  if (!account) return <WhenLoaded of={loaded} rows={12} gone={gone} />;
  const state = accountState(account);
  const close = () => setAsking(null);
  const done = () => {
    close();
    reload();
  };
  return (
    <>
      <header class="page-head with-actions">
        <BackLink to={['accounts']} label={t('nav.accounts')} />
        <h1 class="whole">{account.username}</h1>
        <State tone={state.tone}>{state.text}</State>
        <span class="grow" />
        <Permitted to="changeAccounts">
          <Button onClick={() => setAsking('extend')}>{t('bulk.extend')}</Button>
          {plans.length > 0 && <Button onClick={() => setAsking('plan')}>{t('bulk.plan')}</Button>}
          <Button onClick={() => setAsking(account.isEnabled ? 'disable' : 'enable')}>
            {t(account.isEnabled ? 'bulk.disable' : 'bulk.enable')}
          </Button>
        </Permitted>
        <PermittedButton to="resetPassword" onClick={() => setAsking('password')}>
          {t('account.passwordAndLink')}
        </PermittedButton>
        <PermittedButton to="changeAccount" kind="primary" onClick={() => setAsking('edit')}>
          {t('account.edit')}
        </PermittedButton>
      </header>
      {error && <Failure error={error} retry={reload} />}
      <div class="columns wide-last">
        <Diagnosis account={account} onReset={reload} />
        <AccountFacts account={account} />
      </div>
      <AccountActivity account={account} />
      <Subscription
        key={account.id}
        account={account}
        onMade={(subscription) => setHandedOver({ account, subscription })}
      />
      <Permitted to="deleteAccount">
        <Card title={t('account.dangerZone')} look="danger-zone">
          <div class="row wrap">
            <p class="grow">{t('account.delete.text', { n: account.dataCount })}</p>
            <DeleteButton account={account} />
          </div>
        </Card>
      </Permitted>
      {asking === 'edit' && <EditDialog account={account} onClose={close} onDone={done} />}
      {asking && asking !== 'edit' && asking !== 'password' && (
        <BulkDialog type={asking} target={{ ids: [account.id] }} onClose={close} onDone={done} />
      )}
      {asking === 'password' && (
        <PasswordDialog
          account={account}
          onClose={close}
          onShown={(shown) => {
            setHandedOver(shown);
            done();
          }}
        />
      )}
      {handedOver && (
        <HandoverDialog
          {...handedOver}
          title={t('credentials.of', { name: account.username })}
          onClose={() => setHandedOver(null)}
        />
      )}
    </>
  );
}

function DeleteButton({ account }: { account: Account }) {
  return (
    <AskButton
      kind="danger"
      text={t('account.delete')}
      danger
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
  );
}
