// The player_links table: secret addresses of players that versions before 0.3 made.
import type { Knex } from 'knex';
import type { PlayerLinkStore } from '../../core/accounts/player/player-links.js';
import { changeAccounts, mayChange } from './acting.js';
import type { RecordAudit } from './audit.js';

export function createPlayerLinkStore(db: Knex, recordAudit: RecordAudit): PlayerLinkStore {
  return {
    has: async (accountId) =>
      (await db('player_links').where({ account_id: accountId }).first('account_id')) !== undefined,

    async find(kind, hash) {
      const row: { account_id: string } | undefined = await db('player_links')
        .where({ hash, kind })
        .first('account_id');
      return row?.account_id ?? null;
    },

    remove: (id, audit) =>
      changeAccounts(db, audit.by, async (trx, operator) => {
        const account: { owner: string | null } | undefined = await trx('accounts')
          .where({ id })
          .forUpdate()
          .first('owner');
        if (!account || !mayChange(operator, account.owner)) return false;
        const removed = await trx('player_links').where({ account_id: id }).delete();
        if (removed > 0) await recordAudit(trx, [audit]);
        return removed > 0;
      }),
  };
}
