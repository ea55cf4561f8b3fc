// The page of one player: remaining time and traffic, connected devices, how to connect.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytes, DAY, duration, localTime, rate, scheduleWords } from '../lib/format.js';
import { t, useLanguage } from '../lib/i18n.js';
import { Button, Card, Copied, CopyButton, Facts, Meter, State } from '../ui/basics.js';
import { Icon } from '../ui/icons.js';
import { QrCode } from '../ui/qr.js';
import { Switches } from '../ui/switches.js';
import { Toasts } from '../ui/toast.js';
import { ask, here, type Seen, type Status, type Traffic, useAct, useStatus, Wrong } from './api.js';
import { Addresses, Devices, NewPassword } from './devices.js';

export function PlayerPage() {
  const language = useLanguage();
  const { status, trouble, setStatus } = useStatus();
  document.title = status?.title ?? t('player.title');
  return (
    <main class="player" lang={language} style={{ '--edge': status?.color }}>
      <header class="row">
        {status?.hasPicture && <img src={`${here()}/picture`} alt="" />}
        <div class="grow">
          <span class="soft break">{status?.title}</span>
          <h1 class="break">{status?.username ?? t('player.title')}</h1>
        </div>
        <div class="row">
          <Switches />
        </div>
      </header>
      {trouble !== null && (
        <p class="notice" role="alert">
          <Icon name="warn" /> {t(`player.trouble.${trouble}`)}
        </p>
      )}
      {status && trouble !== 'gone' && (
        <>
          <p>
            <Standing status={status} />
          </p>
          {status.contact !== null && <Contact text={status.contact} url={status.contactUrl} />}
          <Left status={status} />
          <Import status={status} />
          <Devices status={status} onStatus={setStatus} />
          <Days />
          <ConnectionTest />
          <Connect status={status} />
          {status.isEnabled && status.mayChange.includes('password') && (
            <NewPassword min={status.minCharacters} />
          )}
          {status.isEnabled && status.mayChange.includes('authorizedAddresses') && (
            <Addresses status={status} onStatus={setStatus} />
          )}
        </>
      )}
      {!status && trouble === null && <p class="soft">{t('player.loading')}</p>}
      <Toasts />
    </main>
  );
}

function Standing({ status }: { status: Status }) {
  const { limits, usage } = status;
  if (!status.isEnabled) return <State tone="bad">{t('player.disabled')}</State>;
  if (status.suspendedUntil !== null) {
    const until = minuteOf(status.suspendedUntil);
    return (
      <>
        <State tone="bad">{t(until.time >= '9' ? 'player.suspendedNow' : 'player.suspended', until)}</State>{' '}
        {status.suspendReason}
      </>
    );
  }
  if (status.isExpired) return <State tone="bad">{t('player.expired')}</State>;
  if (status.isOutsideSchedule)
    return (
      <State tone="bad">
        {status.scheduleChangesAt === null
          ? t('player.closed')
          : t('player.closedUntil', minuteOf(status.scheduleChangesAt))}
      </State>
    );
  if (limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes)
    return <State tone="bad">{t('player.overQuota')}</State>;
  if (usage.sessions > 0) return <State tone="good">{t('player.online')}</State>;
  return <State tone="info">{t('player.ready')}</State>;
}

function Left({ status }: { status: Status }) {
  const { limits, plan, schedule, timeZone } = status;
  const speeds = `↓ ${speed(limits.bytesPerSecondDown)} · ↑ ${speed(limits.bytesPerSecondUp)}`;
  return (
    <section class="card" aria-label={t('player.left')}>
      <div class="player-tiles">
        <TimeLeft status={status} />
        <TrafficLeft status={status} />
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

function TimeLeft({ status: { expiresAt, isExpired, daysFromFirstLogin, now } }: { status: Status }) {
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

function TrafficLeft({ status: { limits, usage } }: { status: Status }) {
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

const totalOf = ({ bytesUp, bytesDown }: Traffic['days'][number]): number => bytesUp + bytesDown;

/** The traffic of the last days, today first. */
function Days() {
  const [days, setDays] = useState<Traffic['days']>([]);
  useEffect(() => {
    ask<Traffic>('traffic').then(
      (answer) => setDays([...answer.days].reverse()),
      () => {},
    );
  }, []);
  const most = Math.max(...days.map(totalOf));
  if (!(most > 0)) return null;
  return (
    <Card title={t('player.days')}>
      <Facts
        of={days.map((each) => [
          each.day,
          <span class="player-day number">
            <span class="meter fine" aria-hidden="true">
              <span style={{ width: `${(totalOf(each) / most) * 100}%` }} />
            </span>
            {bytes(totalOf(each))}
          </span>,
        ])}
      />
    </Card>
  );
}

/** Requests of a test. The first may have to connect, and does not count. */
const TRIES = 4;

function ConnectionTest() {
  const { busy, wrong, run } = useAct();
  const [seen, setSeen] = useState<{ readonly address: string; readonly ms: number } | null>(null);
  const test = async () => {
    let { address } = await ask<Seen>('seen');
    let ms = Number.POSITIVE_INFINITY;
    for (let n = 1; n < TRIES; n += 1) {
      const start = performance.now();
      ({ address } = await ask<Seen>('seen'));
      ms = Math.min(ms, performance.now() - start);
    }
    setSeen({ address, ms: Math.max(1, Math.round(ms)) });
  };
  return (
    <Card title={t('player.test')}>
      <p class="soft">{t('player.test.text')}</p>
      {seen && <p role="status">{t('player.test.seen', seen)}</p>}
      <Wrong text={wrong} />
      <div class="row">
        <Button disabled={busy} onClick={() => void run(test)}>
          {t('player.test.run')}
        </Button>
      </div>
    </Card>
  );
}

/** The operator's text for players who need help, with its address as a link. */
function Contact({ text, url }: { text: string; url: string | null }) {
  if (url === null) return <p class="break">{text}</p>;
  const at = text.indexOf(url);
  return (
    <p class="break">
      {text.slice(0, at)}
      <a href={url} target="_blank" rel="noreferrer">
        {url}
      </a>
      {text.slice(at + url.length)}
    </p>
  );
}

function Connect({ status }: { status: Status }) {
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

function Import({ status: { subscription, hasTls, pac } }: { status: Status }) {
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
            <CopyButton text={subscription} label={t('player.copySubscription')} />
            {pac !== null && <CopyButton text={pac} label={t('player.import.pac')} />}
          </div>
          {hasTls && <p class="soft">{t('player.import.udp')}</p>}
        </div>
      </div>
    </section>
  );
}
