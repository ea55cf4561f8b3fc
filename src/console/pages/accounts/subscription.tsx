// Makes, shows and revokes the link of an account, from which client programs configure themselves.
import { useState } from 'preact/hooks';
import type { Account, NewSubscription } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { ago } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { CopyButton } from '../../ui/basics.js';
import { AskButton, SecretDialog } from '../../ui/dialog.js';
import { QrCode } from '../../ui/qr.js';
import { Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

export function Subscription({ account: { id } }: { account: Account }) {
  const { data, error, reload } = useLoad('getSubscription', { params: { id } }, { topics: ['accounts'] });
  const [made, setMade] = useState<NewSubscription | null>(null);
  const createdAt = data?.createdAt ?? null;
  const hasAny = data !== undefined && (createdAt !== null || data.hasFormerAddress);
  return (
    <section class="card">
      <h2>{t('subscription.title')}</h2>
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
                setMade(await call('createSubscription', { params: { id } }));
                reload();
              }}
            >
              <p>{t(hasAny ? 'subscription.replace.text' : 'subscription.text')}</p>
            </AskButton>
          )}
        </div>
      )}
      {made && (
        <SecretDialog title={t('subscription.title')} wide onClose={() => setMade(null)}>
          <MadeSubscription made={made} />
        </SecretDialog>
      )}
    </section>
  );
}

export function MadeSubscription({ made: { url, guess } }: { made: NewSubscription }) {
  return (
    <>
      <p class="warn-text">{t('subscription.once')}</p>
      {guess !== null && <p class="notice">{t('subscription.guess')}</p>}
      <div class="client-text">
        <QrCode text={url} label={t('subscription.qr')} />
        <div class="grow stack">
          <code class="break" data-subscription>
            {url}
          </code>
          <div class="row">
            <CopyButton text={url} label={t('copy.copy')} />
          </div>
        </div>
      </div>
    </>
  );
}
