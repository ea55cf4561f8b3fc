// SIGHUP: which keys of the configuration it applies, and which need a restart.
import { changedKeys } from '../../config/units.js';
import type { Loaded } from '../../config.js';
import type { Daemon } from '../../daemon.js';
import type { Logger } from '../../log.js';

/** Reloaded with the files they name. All others need a restart. */
const RELOADED: ReadonlySet<string> = new Set([
  'log.level',
  'webhooks.secret',
  'webhooks.secretFile',
  'webhooks.previousSecret',
  'webhooks.previousSecretFile',
]);

const SIGNING_SECRET = /^webhooks\.agents\..+\.signature\.(?:s|previousS)ecret(?:File)?$/;

/** SIGHUP replaces the certificate of `admin.tls`, but cannot turn HTTPS on or off. */
const isReloaded = (key: string, hasTls: boolean): boolean =>
  RELOADED.has(key) ||
  SIGNING_SECRET.test(key) ||
  (hasTls && (key === 'admin.tls.cert' || key === 'admin.tls.key'));

/** The keys that changed since the start and that SIGHUP does not reload. */
export function needsRestart(started: Loaded, { config, asRead }: Loaded): string[] {
  const hasTls = started.config.admin.tls.cert !== null && config.admin.tls.cert !== null;
  return changedKeys(started.asRead, asRead).filter((key) => !isReloaded(key, hasTls));
}

/** Applies the reloadable keys, and logs the other changed keys, which need a restart. */
export async function reload(
  read: () => Promise<Loaded>,
  started: Loaded,
  daemon: Daemon,
  log: Logger,
): Promise<void> {
  try {
    const now = await read();
    daemon.reload(now.config);
    log.level = now.config.log.level;
    const needRestart = needsRestart(started, now);
    if (needRestart.length > 0)
      log.warn(
        { needRestart },
        'configuration reloaded; some changed keys need a restart (pulsegate restart: no session ends)',
      );
    else log.info({}, 'configuration reloaded');
  } catch (error) {
    log.error({ err: error }, 'configuration reload failed; keeping the current configuration');
  }
}
