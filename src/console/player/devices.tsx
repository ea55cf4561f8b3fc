// The connected devices, one line per client address; and the addresses that need no password, for games that cannot log in.
import { t } from '../lib/i18n.js';
import { Ago, Button, Tag, Traffic } from '../ui/basics.js';
import { AskingButton, ask, type Device, type Status, useAct, Wrong } from './api.js';

export function Devices({ status, onStatus }: { status: Status; onStatus: (status: Status) => void }) {
  const { devices, limits } = status;
  const most = limits.maxClientAddresses;
  return (
    <section class="card">
      <h2>
        {t('player.devices')}{' '}
        <span class="soft number">{most === null ? devices.length : `${devices.length} / ${most}`}</span>
      </h2>
      {devices.length === 0 && <p class="soft">{t('player.devices.none')}</p>}
      <ul class="player-list">
        {devices.map((device) => (
          <Line key={device.address} device={device} onStatus={onStatus} />
        ))}
      </ul>
      {devices.length > 0 && <p class="soft">{t('player.signOut.hint')}</p>}
    </section>
  );
}

function Line({ device, onStatus }: { device: Device; onStatus: (status: Status) => void }) {
  const { busy, wrong, run } = useAct();
  const { address } = device;
  return (
    <li class="row wrap">
      <div class="grow">
        <div class="row wrap">
          <code class="break">{address}</code>
          {device.isThis && <Tag>{t('player.thisDevice')}</Tag>}
          {device.games.map((game) => (
            <Tag key={game}>{game}</Tag>
          ))}
        </div>
        <div class="soft row wrap">
          <span>
            {t('player.since')} <Ago at={device.since} />
          </span>
          <span class="number">{t('player.sessions', { n: device.sessions })}</span>
          <Traffic up={device.bytesUp} down={device.bytesDown} />
        </div>
        <Wrong text={wrong} />
      </div>
      <AskingButton
        label={t('player.signOut')}
        question={t('player.signOut.sure', { address })}
        busy={busy}
        act={() => void run(async () => onStatus(await ask<Status>('devices/end', { address })))}
      />
    </li>
  );
}

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
