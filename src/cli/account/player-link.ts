// `pulsegate account player-link`: the secret addresses of an account's player page and of its PAC file.
import { formatHostPort } from '../../core/ip.js';
import { worded } from '../shared/api.js';
import { CommandError, printLine } from '../shared/command.js';
import { type Group, YES_OPTION } from '../shared/group.js';
import { findAccount } from './find.js';
import { readLinkAddress } from './link.js';
import { ACCOUNT } from './options.js';

const ADDRESS = { ...ACCOUNT, '--pac': 'use the address of the PAC file instead of the page' } as const;
const pathOf = (pac: boolean | undefined) => (pac ? '/accounts/{id}/pac-link' : '/accounts/{id}/player-link');

export function addPlayerLinkCommands(account: Group): void {
  const link = account
    .group('player-link', "manage the secret address of a player's own page, or of its PAC file")
    .examples('account player-link create player', 'account player-link revoke player --yes');

  link
    .command('show', 'show when the address was created', ADDRESS)
    .answers(async (run, { account: nameOrId, pac }) => {
      const { id, username } = await findAccount(run, nameOrId);
      const shown = await run.call(`GET ${pathOf(pac)}`, { params: { id } });
      const { createdAt } = shown;
      return [shown, createdAt ? `Address created ${createdAt}.` : `${username} has no such address.`];
    });

  link
    .command('create', 'create a new address and print it once; the previous one stops working', {
      ...ADDRESS,
      ...YES_OPTION,
    })
    .answers(async (run, { account: nameOrId, pac }) => {
      const { admin } = (await run.load()).config;
      const { tls, port, playerPage } = admin;
      const key = pac ? 'pac' : 'enabled';
      if (!playerPage[key])
        throw new CommandError(`The daemon does not serve these addresses: set admin.playerPage.${key}.`);
      const { id, username } = await findAccount(run, nameOrId);
      const params = { id };
      if ((await run.call(`GET ${pathOf(pac)}`, { params })).createdAt !== null)
        await run.confirm(`The current address of ${username} will stop working.`);
      const made = await run.call(`POST ${pathOf(pac)}`, { params });
      const { host } = await readLinkAddress(run);
      const guessed = `${tls.cert === null ? 'http' : 'https'}://${formatHostPort(host, port)}`;
      // The daemon may still run with another configuration.
      const { pathname } = new URL(made.url);
      const url = (playerPage.url ?? guessed) + pathname.slice(pathname.search(/\/(player|pac)\//));
      if (playerPage.url === null)
        printLine(
          run.io.stderr,
          'The host and port in the address are a guess. If players use others, set admin.playerPage.url.',
        );
      return [{ ...made, url }, url];
    });

  link
    .command('revoke', 'revoke the address', { ...ADDRESS, ...YES_OPTION })
    .runs(async (run, { account: nameOrId, pac }) => {
      const { id, username } = await findAccount(run, nameOrId);
      await run.confirm(`The address of ${username} will stop working.`);
      await worded(run.call(`DELETE ${pathOf(pac)}`, { params: { id } }), {
        'no-player-link': `${username} has no such address.`,
      });
      return `Revoked the address of ${username}.`;
    });
}
