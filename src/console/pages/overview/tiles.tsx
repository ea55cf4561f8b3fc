// The tiles of the overview: one figure each, with its details.
import type { ComponentChildren } from 'preact';
import type { Overview } from '../../api-types.js';
import { bytes, count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';

export function Tiles({ now }: { now: Overview }) {
  return (
    <dl class="tiles">
      <Tile
        label={t('overview.players')}
        value={count(now.playersOnline)}
        link={href(['accounts'], { online: 'true' })}
      >
        {t('overview.ofAccounts', { n: now.accounts.total })}
      </Tile>
      <Tile label={t('nav.sessions')} value={count(now.sessions)} link={href(['sessions'])}>
        {t('overview.heartbeatsPerMinute', { n: Math.round(now.heartbeatsPerMinute) })}
      </Tile>
      <Tile label={t('traffic.down')} value={rate(now.bytesPerSecondDown)}>
        {t('overview.today', { what: bytes(now.today.bytesDown) })}
      </Tile>
      <Tile label={t('traffic.up')} value={rate(now.bytesPerSecondUp)}>
        {t('overview.today', { what: bytes(now.today.bytesUp) })}
      </Tile>
      <Tile label={t('overview.logins')} value={count(now.today.logins)} link={href(['sessions', 'logins'])}>
        <a href={href(['sessions', 'logins'], { failed: 'true' })}>
          {t('overview.failures', { n: now.today.failures })}
        </a>
      </Tile>
      <Tile
        label={t('overview.expiring')}
        value={count(now.accounts.expiringIn7Days)}
        link={href(['accounts'], { within: '7', sort: 'expiresAt' })}
      >
        <a href={href(['accounts'], { expired: 'true' })}>
          {t('overview.expired', { n: now.accounts.expired })}
        </a>
      </Tile>
      <Tile
        label={t('overview.runs')}
        value={count(now.runs.running + now.runs.queued)}
        link={href(['agents'])}
      >
        {now.runs.failedToday > 0 ? (
          <a href={href(['agents'], { status: 'failed' })}>
            {t('overview.runsFailed', { n: now.runs.failedToday })}
          </a>
        ) : (
          t('overview.runsDone', { n: now.runs.succeededToday })
        )}
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly link?: string;
  readonly children: ComponentChildren;
}

function Tile({ label, value, link, children }: TileProps) {
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd class="big number">{link ? <a href={link}>{value}</a> : value}</dd>
      <dd class="soft number">{children}</dd>
    </div>
  );
}
