// `pulsegate whitelist`: which addresses may use the account API and the console.
import { parseIp } from '../core/ip.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './command.js';
import { withCore } from './store.js';

export const addWhitelistCommands: AddCommands = (program, around) => {
  const whitelist = program
    .command('whitelist')
    .description('which addresses may use the account API and the console')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate whitelist set "203.0.113.7, 10.0.*, 2001:db8::/32"\n  pulsegate whitelist set ""          (everyone)\n  pulsegate whitelist check 203.0.113.7',
    );

  whitelist
    .command('show')
    .description('print the list')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const text = core.whitelist.text();
        if (options.json) return printJson(around, { whitelist: text });
        printLine(around.stdout, text.trim() === '' ? '(empty: every address is allowed)' : text);
      });
    });

  whitelist
    .command('set')
    .argument(
      '<list>',
      'addresses, wildcards (10.0.*) and networks (10.0.0.0/8), separated by commas; "" allows all',
    )
    .description('replace the list; it counts from the next request on')
    .action(async (list: string, _options, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const saved = await core.whitelist.save(list, cliActor());
        if (!saved.ok) {
          throw new CommandError(
            `These entries cannot be read: ${saved.badEntries.join(', ')}. The list stays as it was.`,
            2,
          );
        }
        printLine(around.stdout, 'The whitelist was saved.');
      });
    });

  whitelist
    .command('check')
    .argument('<address>', 'an IPv4 or IPv6 address')
    .description('say whether an address is allowed; exit code 1 if not')
    .option('--json', 'as JSON')
    .action(async (address: string, options: { json?: true }, command) => {
      if (!parseIp(address)) throw new CommandError(`${address} is not an IPv4 or IPv6 address.`, 2);
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const allowed = core.whitelist.allows(address);
        if (options.json) printJson(around, { address, allowed });
        else printLine(around.stdout, `${address} is ${allowed ? 'allowed' : 'not allowed'}.`);
        if (!allowed) process.exitCode = 1;
      });
    });
};
