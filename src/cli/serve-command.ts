// `pulsegate serve`, and its flags.
import type { Command } from 'commander';
import type { AddCommands } from './command.js';

export const addServe: AddCommands = (program, around) => {
  program
    .command('serve')
    .description('run the daemon')
    .option('--data-dir <folder>', 'where the database is')
    .option('--socks-host <address>', 'where players connect')
    .option('--socks-port <port>', '0 picks a free one')
    .option('--admin-host <address>', 'where the account API and the console are')
    .option('--admin-port <port>', '0 picks a free one')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .addHelpText(
      'after',
      '\nExample:\n  pulsegate serve --config /etc/pulsegate/pulsegate.yaml --socks-port 1081',
    )
    .action(async (_options, command: Command) => {
      const { serve } = await import('./serve.js');
      await serve(command, around);
    });
};
