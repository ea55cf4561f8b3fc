// `pulsegate serve` and its options.
import type { Command } from 'commander';
import type { AddCommands } from '../shared/command.js';

export const addServe: AddCommands = (program, io) => {
  program
    .command('serve')
    .description('run the daemon')
    .option('--data-dir <folder>', 'data folder, which contains the database')
    .option('--socks-host <address>', 'listen address of the SOCKS5 server')
    .option('--socks-port <port>', 'port of the SOCKS5 server (0: any free port)')
    .option('--admin-host <address>', 'listen address of the admin API and console')
    .option('--admin-port <port>', 'port of the admin API and console (0: any free port)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .addHelpText(
      'after',
      '\nExample:\n  pulsegate serve --config /etc/pulsegate/pulsegate.yaml --socks-port 1081',
    )
    .action(async (_options, command: Command) => {
      const { serve } = await import('./serve.js');
      await serve(command, io);
    });
};
