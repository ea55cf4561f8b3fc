// Makes and revokes the link of an account, from which client programs configure themselves.
import type { Account, NewSubscription } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { ago } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Card } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

interface Props {
  readonly account: Account;
  readonly onMade: (made: NewSubscription) => void;
}

export function Subscription(props: Props) {
  return (
    <Card title={t('subscription.title')}>
      <SubscriptionState {...props} />
    </Card>
  );
}

/** Whether the account has a link, and how to make, replace and revoke it. */
export function SubscriptionState({ account: { id }, onMade }: Props) {
  const { data, error, reload } = useLoad('getSubscription', { params: { id } }, { topics: ['accounts'] });
  const createdAt = data?.createdAt ?? null;
  const hasAny = data !== undefined && (createdAt !== null || data.hasFormerAddress);
  return (
    <>
      <p class="soft">{t(data && !data.isServed ? 'subscription.off' : 'subscription.text')}</p>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data && (data.isServed || hasAny) && (
        <div class="row wrap">
          <span class="grow">
            {createdAt === null ? t('subscription.none') : t('subscription.since', { time: ago(createdAt) })}
            {data.hasFormerAddress && ` ${t('subscription.former')}`}
          </span>
          {hasAny && (
            <AskButton
              right="revokeSubscription"
              text={t('tokens.revoke')}
              danger
              act={async () => {
                await call('revokeSubscription', { params: { id } });
                notify(t('subscription.revoked'));
                reload();
              }}
            >
              <p>{t('subscription.revoke.text')}</p>
            </AskButton>
          )}
          {data.isServed && (
            <AskButton
              right="createSubscription"
              text={t(createdAt === null ? 'subscription.create' : 'subscription.replace')}
              act={async () => {
                onMade(await call('createSubscription', { params: { id } }));
                reload();
              }}
            >
              <p>{t(hasAny ? 'subscription.replace.text' : 'subscription.text')}</p>
            </AskButton>
          )}
        </div>
      )}
    </>
  );
}
