// `pulsegate account player-link`: the secret addresses of an account's player page and of its PAC file.
import type { Config } from '../../config.js';
import { type Api, withApi } from '../shared/api.js';
import type { ApiCommand } from '../shared/api-command.js';
import { CommandError, type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { confirm } from '../shared/prompt.js';
import { findAccount } from './find.js';
import { readLinkAddress } from './link-address.js';
import { wordedAccount } from './refusals.js';

const PAC_HELP = 'use the address of the PAC file instead of the page';
const pathOf = ({ pac }: { readonly pac?: true }) =>
  pac ? '/accounts/{id}/pac-link' : '/accounts/{id}/player-link';

export function addPlayerLinkCommands(account: ApiCommand, io: CommandIo): void {
  const link = account
    .command('player-link')
    .description("manage the secret address of a player's own page, or of its PAC file")
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account player-link create player\n  pulsegate account player-link revoke player --yes',
    );

  link
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show when the address was created')
    .option('--pac', PAC_HELP)
    .option('--json', 'print JSON')
    .calls(async (api, nameOrId: string, options: { pac?: true; json?: true }) => {
      const { id, username } = await findAccount(api, nameOrId);
      const found = await api.call(`GET ${pathOf(options)}`, { params: { id } });
      if (options.json) return printJson(io, found);
      const { createdAt } = found;
      printLine(io.stdout, createdAt ? `Address created ${createdAt}.` : `${username} has no such address.`);
    });

  addCreate(link, io);

  link
    .command('revoke')
    .argument('<account>', 'user name or id')
    .description('revoke the address')
    .option('--pac', PAC_HELP)
    .option('--yes', 'skip the confirmation')
    .calls(async (api, nameOrId: string, options: { pac?: true; yes?: true }) => {
      const { id, username } = await findAccount(api, nameOrId);
      await confirm(io, options.yes, `The address of ${username} will stop working.`);
      const revoked = api.call(`DELETE ${pathOf(options)}`, { params: { id } });
      await wordedAccount(revoked, { 'no-player-link': `${username} has no such address.` });
      printLine(io.stdout, `Revoked the address of ${username}.`);
    });
}

function addCreate(link: ApiCommand, io: CommandIo): void {
  link
    .command('create')
    .argument('<account>', 'user name or id')
    .description('create a new address and print it once; the previous one stops working')
    .option('--pac', PAC_HELP)
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(
      async (nameOrId: string, options: { pac?: true; yes?: true; json?: true }, command: ApiCommand) => {
        const loaded = await load(command, io);
        const { playerPage } = loaded.config.admin;
        const key = options.pac ? 'pac' : 'enabled';
        if (!playerPage[key])
          throw new CommandError(`The daemon does not serve these addresses: set admin.playerPage.${key}.`);
        await withApi(loaded, async (api) => {
          const { id, username } = await findAccount(api, nameOrId);
          const params = { id };
          if ((await api.call(`GET ${pathOf(options)}`, { params })).createdAt !== null)
            await confirm(io, options.yes, `The current address of ${username} will stop working.`);
          const made = await wordedAccount(api.call(`POST ${pathOf(options)}`, { params }));
          // The daemon may still run with another configuration.
          const { pathname } = new URL(made.url);
          const origin = playerPage.url ?? (await guessedOrigin(loaded.config, api));
          const url = origin + pathname.slice(pathname.search(/\/(player|pac)\//));
          if (options.json) printJson(io, { ...made, url });
          else printLine(io.stdout, url);
          if (playerPage.url === null)
            printLine(
              io.stderr,
              'The host and port in the address are a guess. If players use others, set admin.playerPage.url.',
            );
        });
      },
    );
}

async function guessedOrigin({ admin: { tls, port } }: Config, api: Api): Promise<string> {
  const { host } = await readLinkAddress(api);
  return `${tls.cert === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
