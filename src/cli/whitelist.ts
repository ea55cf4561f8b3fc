// `pulsegate whitelist`: the addresses that may use the account API and the console.
import { wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';

export const addWhitelistCommands: AddCommands = (program) =>
  program
    .group('whitelist', 'manage the addresses that may use the account API and the console')
    .examples(
      'whitelist set "203.0.113.7, 10.0.*, 2001:db8::/32"',
      'whitelist set ""          (everyone)',
      'whitelist check 203.0.113.7',
    )

    .command('show', 'print the whitelist')
    .calls('GET /settings/whitelist', (_, { whitelist: text }) =>
      text.trim() === '' ? '(empty: every address is allowed)' : text,
    )

    .command('set', 'replace the whitelist; takes effect with the next request', {
      whitelist:
        '<list>  comma-separated addresses, wildcards (10.0.*) and networks (10.0.0.0/8); "" allows all',
    })
    .runs(async ({ call }, body) => {
      const { entries } = await call('POST /settings/whitelist/check', { body });
      const bad = entries.filter(({ kind }) => kind === 'invalid').map(({ text }) => text);
      if (bad.length > 0)
        throw wrongUsage(`Invalid entries: ${bad.join(', ')}. The whitelist was not changed.`);
      await call('PUT /settings/whitelist', { body });
      return 'Whitelist saved.';
    })

    .command('check', 'check whether an address is allowed; exit code 1 if not', {
      address: '<address>  IPv4 or IPv6 address',
    })
    .answers(async ({ call }, { address }) => {
      const body = { ...(await call('GET /settings/whitelist')), address };
      const { addressAllowed: allowed } = await call('POST /settings/whitelist/check', { body });
      if (allowed === null) throw wrongUsage(`${address} is not an IPv4 or IPv6 address.`);
      if (!allowed) process.exitCode = 1;
      return [{ address, allowed }, `${address} is ${allowed ? 'allowed' : 'not allowed'}.`];
    });
