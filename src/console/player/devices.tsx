// What a player changes: the connected devices, one line per client address; the addresses that need no password, for games that
// cannot log in; and the password, which is shown in the formats of the players' programs. The daemon stores only a hash of it.
import { useState } from 'preact/hooks';
import type { CredentialsInFormats } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { ClientFormats } from '../pages/accounts/client-formats.js';
import { Ago, Button, Card, Copied, Facts, Tag, Traffic } from '../ui/basics.js';
import { InputField, submitting } from '../ui/form.js';
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

const TONES: Readonly<Record<Strength, string>> = { weak: 'bad', fair: 'warn', strong: 'good' };

export function NewPassword({ min }: { min: number }) {
  const { busy, wrong, run } = useAct();
  const [made, setMade] = useState<CredentialsInFormats | null>(null);
  const [chosen, setChosen] = useState('');
  const [isChoosing, setChoosing] = useState(false);
  const strength = strengthOf(chosen);
  const isLong = [...chosen].length >= min;
  const set = (body: { readonly password?: string }) =>
    run(async () => {
      setMade(await ask<CredentialsInFormats>('password', body));
      setChosen('');
      setChoosing(false);
    });
  if (made)
    return (
      <Card title={t('player.password.made')}>
        <p class="warn-text">{t('player.password.once')}</p>
        <Facts of={[[t('account.password'), <Copied text={made.password} isPassword />]]} />
        <ClientFormats formats={made.formats} />
        <div class="row">
          <Button kind="primary" onClick={() => setMade(null)}>
            {t('credentials.kept')}
          </Button>
        </div>
      </Card>
    );
  return (
    <Card title={t('player.password.new')}>
      <p class="soft">{t('player.password.text')}</p>
      {isChoosing && (
        <form
          class="stack"
          onSubmit={submitting(() => {
            if (isLong && !busy) void set({ password: chosen });
          })}
        >
          <InputField
            label={t('account.password')}
            hint={
              isLong ? (
                <span role="status" class={`${TONES[strength]}-text`}>
                  {t(`player.password.${strength}`)}
                </span>
              ) : (
                t('player.password.min', { n: min })
              )
            }
            value={chosen}
            onInput={setChosen}
            autocomplete="new-password"
            maxLength={255}
            autoFocus
            required
          />
          <div class="row wrap">
            <Button onClick={() => setChoosing(false)}>{t('dialog.cancel')}</Button>
            <Button type="submit" kind="primary" disabled={busy || !isLong}>
              {t('player.password.set')}
            </Button>
          </div>
        </form>
      )}
      <Wrong text={wrong} />
      {!isChoosing && (
        <div class="row wrap">
          <AskingButton
            label={t('player.password.random')}
            question={t('player.password.sure')}
            busy={busy}
            act={() => void set({})}
          />
          <Button kind="quiet" onClick={() => setChoosing(true)}>
            {t('player.password.choose')}
          </Button>
        </div>
      )}
    </Card>
  );
}

const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[^a-zA-Z\d]/, 32],
];

type Strength = 'weak' | 'fair' | 'strong';

function strengthOf(password: string): Strength {
  const characters = [...password];
  const size = KINDS.reduce((sum, [kind, count]) => sum + (kind.test(password) ? count : 0), 0);
  // Repeated characters and runs such as 1234 and abcd add little.
  const steps = characters.filter((one, n) => {
    const step = (one.codePointAt(0) ?? 0) - (characters[n - 1]?.codePointAt(0) ?? -9);
    return Math.abs(step) > 1;
  }).length;
  const bits = Math.min(steps, 2 * new Set(characters).size) * Math.log2(Math.max(size, 1));
  if (bits < 40) return 'weak';
  return bits < 64 ? 'fair' : 'strong';
}
