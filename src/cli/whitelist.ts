// `pulsegate whitelist`: the addresses that may use the account API and the console.
import { parseIp } from '../core/ip.js';
import { withApi } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './shared/command.js';

export const addWhitelistCommands: AddCommands = (program, io) => {
  const whitelist = apiCommand(program, io, 'whitelist')
    .description('manage the addresses that may use the account API and the console')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate whitelist set "203.0.113.7, 10.0.*, 2001:db8::/32"\n  pulsegate whitelist set ""          (everyone)\n  pulsegate whitelist check 203.0.113.7',
    );

  whitelist
    .command('show')
    .description('print the whitelist')
    .option('--json', 'print JSON')
    .calls(async ({ call }, options: { json?: true }) => {
      const answer = await call('GET /settings/whitelist');
      if (options.json) return printJson(io, answer);
      const text = answer.whitelist;
      printLine(io.stdout, text.trim() === '' ? '(empty: every address is allowed)' : text);
    });

  whitelist
    .command('set')
    .argument(
      '<list>',
      'comma-separated addresses, wildcards (10.0.*) and networks (10.0.0.0/8); "" allows all',
    )
    .description('replace the whitelist; takes effect with the next request')
    .calls(async ({ call }, list: string) => {
      const body = { whitelist: list };
      const { entries } = await call('POST /settings/whitelist/check', { body });
      const bad = entries.filter(({ kind }) => kind === 'invalid').map(({ text }) => text);
      if (bad.length > 0) {
        throw new CommandError(`Invalid entries: ${bad.join(', ')}. The whitelist was not changed.`, 2);
      }
      await call('PUT /settings/whitelist', { body });
      printLine(io.stdout, 'Whitelist saved.');
    });

  whitelist
    .command('check')
    .argument('<address>', 'IPv4 or IPv6 address')
    .description('check whether an address is allowed; exit code 1 if not')
    .option('--json', 'print JSON')
    .action(async (address: string, options: { json?: true }, command) => {
      if (!parseIp(address)) throw new CommandError(`${address} is not an IPv4 or IPv6 address.`, 2);
      await withApi(await load(command, io), async ({ call }) => {
        const body = { ...(await call('GET /settings/whitelist')), address };
        const { addressAllowed: allowed } = await call('POST /settings/whitelist/check', { body });
        if (options.json) printJson(io, { address, allowed });
        else printLine(io.stdout, `${address} is ${allowed ? 'allowed' : 'not allowed'}.`);
        if (!allowed) process.exitCode = 1;
      });
    });
};
