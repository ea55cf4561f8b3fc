// `pulsegate serve` with its options, and `pulsegate restart`.
import { setTimeout as pause } from 'node:timers/promises';
import type { Override } from '../../config/overrides.js';
import type { RestartState } from '../../http/plain-routes.js';
import { CommandError } from '../shared/command.js';
import type { AddCommands } from '../shared/group.js';
import type { ValuesOf } from '../shared/params.js';

/** In the shape of the configuration that they override. */
const KEYS = {
  dataDir: '--data-dir <folder>  data folder, which contains the database',
  socks: {
    host: '--socks-host <address>  listen address of the SOCKS5 server',
    port: '--socks-port <port>  port of the SOCKS5 server (0: any free port)',
  },
  admin: {
    host: '--admin-host <address>  listen address of the admin API and console',
    port: '--admin-port <port>  port of the admin API and console (0: any free port)',
  },
  log: { level: '--log-level <level>  trace, debug, info, warn, error, fatal or silent' },
} as const;

export const addServe: AddCommands = (program) => {
  program
    .command('serve', 'run the daemon', KEYS, {
      check: '--check  check only whether the daemon could start: its configuration and its database',
    })
    .examples('serve --config /etc/pulsegate/pulsegate.yaml --socks-port 1081')
    .runs(async ({ io, file }, { check, ...given }) => {
      const flags = overrides(given);
      if (check) return (await import('./check-start.js')).checkStart(flags, file, io);
      return (await import('./serve.js')).serve(flags, file, io);
    });
};

const overrides = ({ dataDir, ...sections }: ValuesOf<typeof KEYS>): Override[] => [
  ...(dataDir === undefined ? [] : [{ path: ['dataDir'], text: dataDir, where: 'flag --data-dir' }]),
  ...Object.entries(sections).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, text]) => ({
      path: [section, key],
      text,
      where: `flag --${section}-${key}`,
    })),
  ),
];

/** The daemon lets the program on disk check its configuration and the database. */
const CHECK_MS = 90_000;
/** A start may migrate the database first: as TimeoutStartSec= of the unit. */
const START_MS = 15 * 60_000;
const STATE_MS = 2_000;
const POLL_MS = 50;
const NO_RESTART =
  'The running daemon is of a version that cannot do this. Restart it: systemctl restart pulsegate';

export const addRestart: AddCommands = (program) => {
  program
    .command('restart', 'restart the running daemon in place, with the program and the configuration on disk')
    .runs(async ({ load }) => {
      const { config } = await load();
      // Loaded here, because sessions may wait for `serve`.
      const { askDaemon } = await import('../shared/daemon.js');
      const { RESTART_PATH } = await import('../../http/caller.js');
      const ask = async (method: string, timeout: number) => {
        const { status, body } = await askDaemon(config, { path: RESTART_PATH, timeout }, { method });
        return { status, ...(Object(body) as RestartState) };
      };
      const before = await ask('POST', CHECK_MS);
      if (before.status === 409)
        throw new CommandError(`The daemon is not restarted, and continues as before.\n${before.problem}`);
      if (before.instance === undefined) throw new CommandError(NO_RESTART);
      const startedAt = performance.now();
      for (;;) {
        // No answer: the program is being replaced.
        const now = await ask('GET', STATE_MS).catch(() => null);
        const tookMs = Math.round(performance.now() - startedAt);
        if (now?.instance && now.instance !== before.instance) return `Restarted in ${tookMs} ms.`;
        if (now?.problem)
          throw new CommandError(`The restart failed, and the daemon continues: ${now.problem}`);
        if (tookMs > START_MS) throw new CommandError('The daemon has not started yet. See its log.');
        await pause(POLL_MS);
      }
    });
};
