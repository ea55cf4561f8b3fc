// `pulsegate restart`: lets the program on disk replace the running daemon.
import { setTimeout as pause } from 'node:timers/promises';
import { type RestartState, restartDaemon, restartState } from './shared/api.js';
import { CommandError } from './shared/command.js';
import type { AddCommands } from './shared/group.js';

/** A start may migrate the database first: as TimeoutStartSec= of the unit. */
const START_MS = 15 * 60_000;
const POLL_MS = 50;

export const addRestart: AddCommands = (program) => {
  program
    .command('restart', 'restart the running daemon in place, with the program and the configuration on disk')
    .runs(async ({ load }) => {
      const { config } = await load();
      const { instance } = await restartDaemon(config);
      const startedAt = performance.now();
      for (;;) {
        const state: RestartState | null = await restartState(config);
        const tookMs = Math.round(performance.now() - startedAt);
        if (state?.instance && state.instance !== instance) return `Restarted in ${tookMs} ms.`;
        if (state?.problem)
          throw new CommandError(`The restart failed, and the daemon continues: ${state.problem}`);
        if (tookMs > START_MS) throw new CommandError('The daemon has not started yet. See its log.');
        await pause(POLL_MS);
      }
    });
};
