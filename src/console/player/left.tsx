// The remaining days and traffic, and the limits of the plan.
import type { ComponentChildren } from 'preact';
import { bytes, DAY, duration, localTime, rate } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { scheduleWords } from '../lib/schedule.js';
import { Facts, Meter } from '../ui/basics.js';
import type { Status } from './api.js';

export function Left({ status }: { status: Status }) {
  const { limits, plan, schedule, timeZone } = status;
  const speeds = `↓ ${speed(limits.bytesPerSecondDown)} · ↑ ${speed(limits.bytesPerSecondUp)}`;
  return (
    <section class="card" aria-label={t('player.left')}>
      <div class="player-tiles">
        <Days status={status} />
        <Traffic status={status} />
      </div>
      <Facts
        of={[
          plan !== null && [t('plans.choose'), plan],
          [t('player.speed'), speeds, 'number'],
          schedule !== null && [
            t('player.schedule'),
            t('unit.note', { text: scheduleWords(schedule), note: timeZone }),
            'break',
          ],
          limits.maxSessions !== null && [t('player.maxSessions'), limits.maxSessions, 'number'],
        ]}
      />
    </section>
  );
}

const speed = (value: number | null): string => (value === null ? t('limits.none') : rate(value));

function Tile({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="player-tile stack close">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

function Days({ status: { expiresAt, isExpired, daysFromFirstLogin, now } }: { status: Status }) {
  if (daysFromFirstLogin !== null)
    return (
      <Tile title={t('player.time')}>
        <strong class="number">{duration(daysFromFirstLogin * DAY)}</strong>
        <span class="soft">{t('player.fromFirstLogin')}</span>
      </Tile>
    );
  if (expiresAt === null)
    return (
      <Tile title={t('player.time')}>
        <strong>{t('limits.none')}</strong>
      </Tile>
    );
  const remainingMs = Date.parse(expiresAt) - Date.parse(now);
  const tone = isExpired ? 'bad-text' : remainingMs < 3 * DAY ? 'warn-text' : '';
  return (
    <Tile title={t('player.time')}>
      <strong class={`number ${tone}`}>{isExpired ? t('player.expired') : duration(remainingMs)}</strong>
      <span class="soft number">{t('player.until', { time: localTime(expiresAt).slice(0, 16) })}</span>
    </Tile>
  );
}

function Traffic({ status: { limits, usage } }: { status: Status }) {
  const { quotaBytes, quotaPeriod } = limits;
  if (quotaBytes === null)
    return (
      <Tile title={t('player.traffic')}>
        <strong>{t('limits.none')}</strong>
        <span class="soft number">
          {t('player.used', { used: bytes(usage.periodBytes), period: t(`player.period.${quotaPeriod}`) })}
        </span>
      </Tile>
    );
  const remainingBytes = Math.max(0, quotaBytes - usage.periodBytes);
  return (
    <Tile title={t('player.traffic')}>
      <strong class={`number ${remainingBytes === 0 ? 'bad-text' : ''}`}>{bytes(remainingBytes)}</strong>
      <Meter value={usage.periodBytes} max={quotaBytes} label={t('player.traffic')} />
      <span class="soft number">
        {t('player.usedOf', { used: bytes(usage.periodBytes), quota: bytes(quotaBytes) })}
      </span>
      {usage.periodEndsAt !== null && (
        <span class="soft number">
          {t('player.resets', { time: localTime(usage.periodEndsAt).slice(0, 16) })}
        </span>
      )}
    </Tile>
  );
}
