// The secret address of the player's own page: made, shown once, revoked.
import { useState } from 'preact/hooks';
import type { Account, NewPlayerLink } from '../api-types.js';
import { call } from '../lib/api.js';
import { ago } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Button, CopyButton } from '../ui/basics.js';
import { Confirm, Dialog } from '../ui/dialog.js';
import { QrCode } from '../ui/qr.js';
import { Failure } from '../ui/states.js';
import { notify } from '../ui/toast.js';

export function PlayerLinkCard({ account: { id } }: { account: Account }) {
  const { data, error, reload } = useLoad('getPlayerLink', { params: { id } }, { topics: ['accounts'] });
  const [asking, setAsking] = useState<'create' | 'revoke' | null>(null);
  const [made, setMade] = useState<NewPlayerLink | null>(null);
  const create = async () => {
    setMade(await call('createPlayerLink', { params: { id } }));
    reload();
  };
  const createdAt = data?.createdAt ?? null;
  return (
    <section class="card">
      <h2>{t('playerLink.title')}</h2>
      <p class="soft">{t(data && !data.isServed ? 'playerLink.off' : 'playerLink.text')}</p>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data && (data.isServed || createdAt !== null) && (
        <div class="row wrap">
          <span class="grow">
            {createdAt === null ? t('playerLink.none') : t('playerLink.since', { time: ago(createdAt) })}
          </span>
          {createdAt !== null && (
            <Button onClick={() => setAsking('revoke')}>{t('playerLink.revoke')}</Button>
          )}
          {data.isServed && (
            <Button onClick={() => setAsking('create')}>
              {t(createdAt === null ? 'playerLink.create' : 'playerLink.renew')}
            </Button>
          )}
        </div>
      )}
      {asking === 'create' && (
        <Confirm
          title={t(createdAt === null ? 'playerLink.create' : 'playerLink.renew')}
          action={t(createdAt === null ? 'playerLink.create' : 'playerLink.renew')}
          onClose={() => setAsking(null)}
          act={create}
        >
          <p>{t(createdAt === null ? 'playerLink.text' : 'playerLink.renew.text')}</p>
        </Confirm>
      )}
      {asking === 'revoke' && (
        <Confirm
          title={t('playerLink.revoke')}
          action={t('playerLink.revoke')}
          danger
          onClose={() => setAsking(null)}
          act={async () => {
            await call('revokePlayerLink', { params: { id } });
            notify(t('playerLink.revoked'));
            reload();
          }}
        >
          <p>{t('playerLink.revoke.text')}</p>
        </Confirm>
      )}
      {made && <MadeDialog link={made} onClose={() => setMade(null)} />}
    </section>
  );
}

function MadeDialog({ link: { url, guess }, onClose }: { link: NewPlayerLink; onClose: () => void }) {
  return (
    <Dialog
      title={t('playerLink.title')}
      wide
      onClose={onClose}
      unsaved="secret"
      footer={
        <Button kind="primary" onClick={onClose}>
          {t('credentials.kept')}
        </Button>
      }
    >
      <p class="warn-text">{t('playerLink.once')}</p>
      {guess !== null && <p class="notice">{t('playerLink.guess')}</p>}
      <div class="client-text">
        <QrCode text={url} label={t('playerLink.qr')} />
        <div class="grow stack">
          <code class="break" data-player-link>
            {url}
          </code>
          <div class="row">
            <CopyButton text={url} label={t('formats.copy')} />
          </div>
        </div>
      </div>
    </Dialog>
  );
}
