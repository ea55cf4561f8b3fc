// Makes, shows and revokes the secret addresses of an account's player page and of its PAC file.
import { useState } from 'preact/hooks';
import type { Account, NewPlayerLink } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { ago } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { CopyButton } from '../../ui/basics.js';
import { AskButton, SecretDialog } from '../../ui/dialog.js';
import { QrCode } from '../../ui/qr.js';
import { Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

type Kind = 'page' | 'pac';
const OPERATIONS = {
  page: { get: 'getPlayerLink', create: 'createPlayerLink', revoke: 'revokePlayerLink' },
  pac: { get: 'getPacLink', create: 'createPacLink', revoke: 'revokePacLink' },
} as const;

export function PlayerLinks({ account }: { account: Account }) {
  return (
    <div class="columns wide-last">
      <LinkCard key={`page-${account.id}`} kind="page" id={account.id} />
      <LinkCard key={`pac-${account.id}`} kind="pac" id={account.id} />
    </div>
  );
}

function LinkCard({ kind, id }: { kind: Kind; id: string }) {
  const { get, create, revoke } = OPERATIONS[kind];
  const { data, error, reload } = useLoad(get, { params: { id } }, { topics: ['accounts'] });
  const [made, setMade] = useState<NewPlayerLink | null>(null);
  const createdAt = data?.createdAt ?? null;
  const createText = t(createdAt === null ? 'playerLink.create' : 'playerLink.renew');
  return (
    <section class="card">
      <h2>{t(`playerLink.title.${kind}`)}</h2>
      <p class="soft">
        {data && !data.isServed ? t(`playerLink.off.${kind}`) : t(`playerLink.text.${kind}`)}
      </p>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data?.url && (
        <p>
          <code class="break">{data.url}</code> <CopyButton text={data.url} />
        </p>
      )}
      {data && (data.isServed || createdAt !== null) && (
        <div class="row wrap">
          <span class="grow">
            {createdAt === null ? t('playerLink.none') : t('playerLink.since', { time: ago(createdAt) })}
          </span>
          {createdAt !== null && (
            <AskButton
              right={revoke}
              text={t('playerLink.revoke')}
              danger
              act={async () => {
                await call(revoke, { params: { id } });
                notify(t('playerLink.revoked'));
                reload();
              }}
            >
              <p>{t('playerLink.revoke.text')}</p>
            </AskButton>
          )}
          {data.isServed && (
            <AskButton
              right={create}
              text={createText}
              act={async () => {
                setMade(await call(create, { params: { id } }));
                reload();
              }}
            >
              <p>{createdAt === null ? t(`playerLink.text.${kind}`) : t('playerLink.renew.text')}</p>
            </AskButton>
          )}
        </div>
      )}
      {made && <MadeDialog kind={kind} link={made} onClose={() => setMade(null)} />}
    </section>
  );
}

interface MadeDialogProps {
  readonly kind: Kind;
  readonly link: NewPlayerLink;
  readonly onClose: () => void;
}

function MadeDialog({ kind, link: { url, guess }, onClose }: MadeDialogProps) {
  return (
    <SecretDialog
      title={t(`playerLink.title.${kind}`)}
      wide
      onClose={onClose}
      unsaved={kind === 'page' ? 'secret' : null}
    >
      {kind === 'page' && <p class="warn-text">{t('playerLink.once')}</p>}
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
    </SecretDialog>
  );
}
