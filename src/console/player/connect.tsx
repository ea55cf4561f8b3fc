// How to connect: the server's address, and a link without the password, because the daemon stores only a hash of it.
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
