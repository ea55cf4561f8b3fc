// `pulsegate serve` and its options.
import type { AddCommands } from '../shared/group.js';

export const addServe: AddCommands = (program) => {
  program
    .command('serve', 'run the daemon', {
      '--data-dir <folder>': 'data folder, which contains the database',
      '--socks-host <address>': 'listen address of the SOCKS5 server',
      '--socks-port <port>': 'port of the SOCKS5 server (0: any free port)',
      '--admin-host <address>': 'listen address of the admin API and console',
      '--admin-port <port>': 'port of the admin API and console (0: any free port)',
      '--log-level <level>': 'trace, debug, info, warn, error, fatal or silent',
      '--check': 'check only whether the daemon could start: its configuration and its database',
    })
    .examples('serve --config /etc/pulsegate/pulsegate.yaml --socks-port 1081')
    .runs(async ({ io, file }, { check, ...given }) => {
      if (check) return (await import('./check-start.js')).checkStart(given, file, io);
      const { serve } = await import('./serve.js');
      return serve(given, file, io);
    });
};
