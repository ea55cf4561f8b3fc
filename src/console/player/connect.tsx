// How to connect: by the link, which sets up client programs by one tap or its QR code; and by hand, with a link without the
// password, because the daemon stores only a hash of it.
import { t } from '../lib/i18n.js';
import { Card, Copied, CopyButton, Facts } from '../ui/basics.js';
import { QrCode } from '../ui/qr.js';
import type { Status } from './api.js';

export function Connect({ status }: { status: Status }) {
  const facts = [
    [t('player.server'), status.host],
    [t('publicAddress.port'), String(status.port)],
    [t('account.username'), status.username],
  ] as const;
  return (
    <Card title={t('player.connect')}>
      <Facts of={facts.map(([name, value]) => [name, <Copied text={value} />])} />
      <div class="client-text">
        <QrCode text={status.link} label={t('player.qr')} />
        <div class="grow stack">
          <code class="break">{status.link}</code>
          <p class="soft">{t('player.link.hint')}</p>
          <div class="row">
            <CopyButton text={status.link} label={t('player.copyLink')} />
          </div>
        </div>
      </div>
    </Card>
  );
}

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
