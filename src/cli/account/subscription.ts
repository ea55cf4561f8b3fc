// `pulsegate account subscription`: the secret link of an account for client programs.
import { formatHostPort } from '../../core/ip.js';
import { worded } from '../shared/api.js';
import { CommandError, printLine } from '../shared/command.js';
import { type Group, YES_OPTION } from '../shared/group.js';
import { findAccount } from './find.js';
import { readLinkAddress } from './link.js';
import { ACCOUNT } from './options.js';

const PATH = '/accounts/{id}/subscription';

export function addSubscriptionCommands(account: Group): void {
  const link = account
    .group('subscription', 'manage the secret link from which client programs configure themselves')
    .examples('account subscription create player', 'account subscription revoke player --yes');

  link
    .command('show', 'show when the link was created', ACCOUNT)
    .answers(async (run, { account: nameOrId }) => {
      const { id, username } = await findAccount(run, nameOrId);
      const shown = await run.call(`GET ${PATH}`, { params: { id } });
      const { createdAt, hasFormerAddress } = shown;
      const former = hasFormerAddress ? ' An address of an earlier version still works.' : '';
      return [shown, (createdAt ? `Link created ${createdAt}.` : `${username} has no link.`) + former];
    });

  link
    .command(
      'create',
      'create a new link and print it once; earlier ones stop working, and their sessions end',
      {
        ...ACCOUNT,
        ...YES_OPTION,
      },
    )
    .answers(async (run, { account: nameOrId }) => {
      const { tls, port, playerPage } = (await run.load()).config.admin;
      if (!playerPage.enabled)
        throw new CommandError('The daemon does not serve links: set admin.playerPage.enabled.');
      const { id, username } = await findAccount(run, nameOrId);
      const params = { id };
      const { createdAt, hasFormerAddress } = await run.call(`GET ${PATH}`, { params });
      if (createdAt !== null || hasFormerAddress)
        await run.confirm(`The current link of ${username} will stop working.`);
      const made = await run.call(`POST ${PATH}`, { params });
      const { host } = await readLinkAddress(run);
      const guessed = `${tls.cert === null ? 'http' : 'https'}://${formatHostPort(host, playerPage.port ?? port)}`;
      // The daemon may still run with another configuration.
      const { pathname } = new URL(made.url);
      const url = (playerPage.url ?? guessed) + pathname.slice(pathname.indexOf('/sub/'));
      if (playerPage.url === null)
        printLine(
          run.io.stderr,
          'The host and port in the link are a guess. If players use others, set admin.playerPage.url.',
        );
      return [{ ...made, url }, url];
    });

  link
    .command('revoke', 'revoke the link and earlier ones, and end their sessions', {
      ...ACCOUNT,
      ...YES_OPTION,
    })
    .runs(async (run, { account: nameOrId }) => {
      const { id, username } = await findAccount(run, nameOrId);
      await run.confirm(`The link of ${username} will stop working.`);
      await worded(run.call(`DELETE ${PATH}`, { params: { id } }), {
        'no-subscription': `${username} has no link.`,
      });
      return `Revoked the link of ${username}.`;
    });
}
