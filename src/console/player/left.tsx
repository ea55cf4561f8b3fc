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

interface TileProps {
  readonly title: string;
  readonly value: string;
  /** CSS classes of the value. */
  readonly tone?: string;
  /** Lines below it. */
  readonly notes?: readonly (string | null)[];
  readonly children?: ComponentChildren;
}

function Tile({ title, value, tone = '', notes = [], children }: TileProps) {
  return (
    <div class="player-tile stack close">
      <h2>{title}</h2>
      <strong class={`number ${tone}`}>{value}</strong>
      {children}
      {notes.map((note) => note !== null && <span class="soft number">{note}</span>)}
    </div>
  );
}

const minuteOf = (at: string) => ({ time: localTime(at).slice(0, 16) });

function Days({ status: { expiresAt, isExpired, daysFromFirstLogin, now } }: { status: Status }) {
  const title = t('player.time');
  if (daysFromFirstLogin !== null) {
    const days = duration(daysFromFirstLogin * DAY);
    return <Tile title={title} value={days} notes={[t('player.fromFirstLogin')]} />;
  }
  if (expiresAt === null) return <Tile title={title} value={t('limits.none')} />;
  const remainingMs = Date.parse(expiresAt) - Date.parse(now);
  return (
    <Tile
      title={title}
      value={isExpired ? t('player.expired') : duration(remainingMs)}
      tone={isExpired ? 'bad-text' : remainingMs < 3 * DAY ? 'warn-text' : ''}
      notes={[t('player.until', minuteOf(expiresAt))]}
    />
  );
}

function Traffic({ status: { limits, usage } }: { status: Status }) {
  const { quotaBytes, quotaPeriod } = limits;
  const title = t('player.traffic');
  const used = bytes(usage.periodBytes);
  if (quotaBytes === null) {
    const period = t(`player.period.${quotaPeriod}`);
    return <Tile title={title} value={t('limits.none')} notes={[t('player.used', { used, period })]} />;
  }
  const remainingBytes = Math.max(0, quotaBytes - usage.periodBytes);
  return (
    <Tile
      title={title}
      value={bytes(remainingBytes)}
      tone={remainingBytes === 0 ? 'bad-text' : ''}
      notes={[
        t('player.usedOf', { used, quota: bytes(quotaBytes) }),
        usage.periodEndsAt && t('player.resets', minuteOf(usage.periodEndsAt)),
      ]}
    >
      <Meter value={usage.periodBytes} max={quotaBytes} label={title} />
    </Tile>
  );
}
