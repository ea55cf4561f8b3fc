// `pulsegate whitelist`: the addresses that may use the account API and the console.
import { CommandError } from './shared/command.js';
import type { AddCommands } from './shared/group.js';

export const addWhitelistCommands: AddCommands = (program) => {
  const whitelist = program
    .group('whitelist', 'manage the addresses that may use the account API and the console')
    .examples(
      'whitelist set "203.0.113.7, 10.0.*, 2001:db8::/32"',
      'whitelist set ""          (everyone)',
      'whitelist check 203.0.113.7',
    );

  whitelist.command('show', 'print the whitelist').answers(async ({ call }) => {
    const answer = await call('GET /settings/whitelist');
    return [answer, answer.whitelist.trim() === '' ? '(empty: every address is allowed)' : answer.whitelist];
  });

  whitelist
    .command('set', 'replace the whitelist; takes effect with the next request', {
      '<list>': 'comma-separated addresses, wildcards (10.0.*) and networks (10.0.0.0/8); "" allows all',
    })
    .runs(async ({ call }, { list }) => {
      const body = { whitelist: list };
      const { entries } = await call('POST /settings/whitelist/check', { body });
      const bad = entries.filter(({ kind }) => kind === 'invalid').map(({ text }) => text);
      if (bad.length > 0)
        throw new CommandError(`Invalid entries: ${bad.join(', ')}. The whitelist was not changed.`, 2);
      await call('PUT /settings/whitelist', { body });
      return 'Whitelist saved.';
    });

  whitelist
    .command('check', 'check whether an address is allowed; exit code 1 if not', {
      '<address>': 'IPv4 or IPv6 address',
    })
    .answers(async ({ call }, { address }) => {
      const body = { ...(await call('GET /settings/whitelist')), address };
      const { addressAllowed: allowed } = await call('POST /settings/whitelist/check', { body });
      if (allowed === null) throw new CommandError(`${address} is not an IPv4 or IPv6 address.`, 2);
      if (!allowed) process.exitCode = 1;
      return [{ address, allowed }, `${address} is ${allowed ? 'allowed' : 'not allowed'}.`];
    });
};
