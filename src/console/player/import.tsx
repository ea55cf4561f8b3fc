// Setting up client programs from the link: by one tap, by its QR code, or by hand.
import { t } from '../lib/i18n.js';
import { CopyButton } from '../ui/basics.js';
import { QrCode } from '../ui/qr.js';
import type { Status } from './api.js';

/** The programs' URL schemes, as their documentation gives them. */
const PROGRAMS: readonly (readonly [name: string, (link: string) => string])[] = [
  ['Clash / mihomo', (link) => `clash://install-config?url=${encodeURIComponent(`${link}?format=clash`)}`],
  [
    'sing-box',
    (link) => `sing-box://import-remote-profile?url=${encodeURIComponent(`${link}?format=sing-box`)}`,
  ],
  ['Shadowrocket', (link) => `shadowrocket://add/sub://${btoa(`${link}?format=shadowrocket`)}`],
  ['Hiddify', (link) => `hiddify://import/${link}`],
];

export function Import({ status: { subscription, hasTls, pac } }: { status: Status }) {
  if (subscription === null) return null;
  return (
    <section class="card">
      <h2>{t('player.import')}</h2>
      <p class="soft">{t('player.import.text')}</p>
      <div class="row wrap">
        {PROGRAMS.map(([name, address]) => (
          <a class="button" key={name} href={address(subscription)}>
            {name}
          </a>
        ))}
      </div>
      <div class="client-text">
        <QrCode text={subscription} label={t('player.import.qr')} />
        <div class="grow stack">
          <p class="soft">{t('player.import.others')}</p>
          <div class="row wrap">
            <CopyButton text={subscription} label={t('player.copyLink')} />
            {pac !== null && <CopyButton text={pac} label={t('player.import.pac')} />}
          </div>
          {hasTls && <p class="soft">{t('player.import.udp')}</p>}
        </div>
      </div>
    </section>
  );
}
