// The page of one player: remaining time and traffic, connected devices, how to connect.
import { localTime } from '../lib/format.js';
import { t, useLanguage } from '../lib/i18n.js';
import { State } from '../ui/basics.js';
import { Icon } from '../ui/icons.js';
import { Switches } from '../ui/switches.js';
import { Toasts } from '../ui/toast.js';
import { type Status, useStatus } from './api.js';
import { Connect, Import } from './connect.js';
import { Addresses, Devices } from './devices.js';
import { Left } from './left.js';
import { NewPassword } from './password.js';

export function PlayerPage() {
  const language = useLanguage();
  const { status, trouble, setStatus } = useStatus();
  document.title = t('player.title');
  return (
    <main class="player" lang={language}>
      <header class="row">
        <h1 class="break grow">{status?.username ?? t('player.title')}</h1>
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
          {status.contact !== null && <p class="break">{status.contact}</p>}
          <Left status={status} />
          <Import status={status} />
          <Devices status={status} onStatus={setStatus} />
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
    const time = localTime(status.suspendedUntil).slice(0, 16);
    return <State tone="bad">{t('player.suspended', { time })}</State>;
  }
  if (status.isExpired) return <State tone="bad">{t('player.expired')}</State>;
  if (status.isOutsideSchedule)
    return (
      <State tone="bad">
        {status.scheduleChangesAt === null
          ? t('player.closed')
          : t('player.closedUntil', { time: localTime(status.scheduleChangesAt).slice(0, 16) })}
      </State>
    );
  if (limits.quotaBytes !== null && usage.periodBytes >= limits.quotaBytes)
    return <State tone="bad">{t('player.overQuota')}</State>;
  if (usage.sessions > 0) return <State tone="good">{t('player.online')}</State>;
  return <State tone="info">{t('player.ready')}</State>;
}
