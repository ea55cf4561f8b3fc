// The client addresses that need no password: for game consoles and games that cannot log in.
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { AskingButton, useAct, Wrong } from './act.js';
import { ask, type Status } from './api.js';

export function Addresses({ status, onStatus }: { status: Status; onStatus: (status: Status) => void }) {
  const { authorizedAddresses, maxAuthorizedAddresses, ownAddress } = status;
  const { busy, wrong, run } = useAct();
  const send = (path: string, body: object) => void run(async () => onStatus(await ask<Status>(path, body)));
  const isFull = authorizedAddresses.length >= maxAuthorizedAddresses;
  return (
    <section class="card">
      <h2>
        {t('account.authorizedAddresses')}{' '}
        <span class="soft number">
          {authorizedAddresses.length} / {maxAuthorizedAddresses}
        </span>
      </h2>
      <p class="soft">{t('player.addresses.text')}</p>
      <ul class="player-list">
        {authorizedAddresses.map((address) => (
          <li key={address} class="row wrap">
            <code class="break grow">{address}</code>
            <AskingButton
              label={t('player.addresses.remove')}
              question={t('player.addresses.sure', { address })}
              busy={busy}
              act={() => send('addresses/remove', { address })}
            />
          </li>
        ))}
      </ul>
      <Wrong text={wrong} />
      {ownAddress !== null && (
        <div class="row">
          <Button disabled={busy || isFull} onClick={() => send('addresses', {})}>
            {t('player.addresses.add', { address: ownAddress })}
          </Button>
        </div>
      )}
    </section>
  );
}
