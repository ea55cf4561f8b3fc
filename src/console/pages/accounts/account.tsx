// One account. Its first part explains why a player cannot connect.
import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go } from '../../lib/router.js';
import { Button, Card, Permitted, State } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { BackLink, Gone } from '../../ui/list/list.js';
import { MoreActions } from '../../ui/list/selection-bar.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { ActionDialog, type ActionName, actionsOn, inMenu } from './actions.js';
import { AccountActivity } from './activity.js';
import { accountState } from './columns.js';
import { Diagnosis } from './diagnosis.js';
import { AccountFacts } from './facts.js';
import { usePlans } from './fields/plans.js';
import { LinkCard } from './handover.js';

/** Those that have no button in the head of the page. */
const IN_MENU = new Set<ActionName>(['renew', 'end-sessions', 'disable']);

export function AccountPage({ id }: { id: string }) {
  const loaded = useLoad(
    'getAccount',
    { params: { id } },
    { topics: ['accounts', 'sessions'], everyMs: 5_000 },
  );
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
            <DeleteButton account={account} />
          </div>
        </Card>
      </Permitted>
      {acting && <ActionDialog account={account} action={acting} onClose={close} onChanged={reload} />}
    </>
  );
}

function DeleteButton({ account }: { account: Account }) {
  return (
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
  );
}
