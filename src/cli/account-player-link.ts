// `pulsegate account player-link`: the secret addresses of an account's player page and of its PAC file.
import type { Command } from 'commander';
import type { Config } from '../config.js';
import { type PlayerLinkKind, playerPath } from '../core/accounts/player/player-links.js';
import { iso } from '../core/clock.js';
import type { Core } from '../parts/core.js';
import { findAccount } from './account-show.js';
import { cliActor } from './actor.js';
import { CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { readLinkAddress } from './link.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';

const PAC_HELP = 'use the address of the PAC file instead of the page';
const kindOf = ({ pac }: { readonly pac?: true }): PlayerLinkKind => (pac ? 'pac' : 'page');

export function addPlayerLinkCommands(account: Command, io: CommandIo): void {
  const link = account
    .command('player-link')
    .description("manage the secret address of a player's own page, or of its PAC file")
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account player-link create player\n  pulsegate account player-link revoke player --yes',
    );
  addShow(link, io);
  addCreate(link, io);
  addRevoke(link, io);
}

function addShow(link: Command, io: CommandIo): void {
  link
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show when the address was created')
    .option('--pac', PAC_HELP)
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, options: { pac?: true; json?: true }, command: Command) => {
      await withCore(await load(command, io), async (core) => {
        const { account } = findAccount(core, nameOrId);
        const found = await core.playerLinks.get(account.id, kindOf(options));
        const createdAt = found && iso(found.createdAt);
        if (options.json) return printJson(io, { createdAt });
        printLine(
          io.stdout,
          createdAt ? `Address created ${createdAt}.` : `${account.username} has no such address.`,
        );
      });
    });
}

function addCreate(link: Command, io: CommandIo): void {
  link
    .command('create')
    .argument('<account>', 'user name or id')
    .description('create a new address and print it once; the previous one stops working')
    .option('--pac', PAC_HELP)
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, options: { pac?: true; yes?: true; json?: true }, command: Command) => {
      const loaded = await load(command, io);
      const { playerPage } = loaded.config.admin;
      const kind = kindOf(options);
      const key = kind === 'page' ? 'enabled' : 'pac';
      if (!playerPage[key])
        throw new CommandError(`The daemon does not serve these addresses: set admin.playerPage.${key}.`);
      await withCore(loaded, async (core) => {
        const { account } = findAccount(core, nameOrId);
        if (await core.playerLinks.get(account.id, kind))
          await confirm(
            io,
            options.yes ?? false,
            `The current address of ${account.username} will stop working.`,
          );
        const created = await core.playerLinks.create(account, kind, cliActor());
        if (!created) throw new CommandError('The account no longer exists.');
        const { token, createdAt } = created;
        const origin = playerPage.url ?? (await guessedOrigin(loaded.config, core));
        const url = origin + playerPath(kind, token);
        if (options.json) printJson(io, { url, createdAt: iso(createdAt) });
        else printLine(io.stdout, url);
        if (playerPage.url === null)
          printLine(
            io.stderr,
            'The host and port in the address are a guess. If players use others, set admin.playerPage.url.',
          );
      });
    });
}

function addRevoke(link: Command, io: CommandIo): void {
  link
    .command('revoke')
    .argument('<account>', 'user name or id')
    .description('revoke the address')
    .option('--pac', PAC_HELP)
    .option('--yes', 'skip the confirmation')
    .action(async (nameOrId: string, options: { pac?: true; yes?: true }, command: Command) => {
      await withCore(await load(command, io), async (core) => {
        const { account } = findAccount(core, nameOrId);
        await confirm(io, options.yes ?? false, `The address of ${account.username} will stop working.`);
        if (!(await core.playerLinks.revoke(account, kindOf(options), cliActor())))
          throw new CommandError(`${account.username} has no such address.`);
        printLine(io.stdout, `Revoked the address of ${account.username}.`);
      });
    });
}

async function guessedOrigin(config: Config, { store }: Core): Promise<string> {
  const { host } = await readLinkAddress(config, store.settings);
  const { tls, port } = config.admin;
  return `${tls.cert === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
