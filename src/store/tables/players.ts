// The tables of players: player_links, their secret addresses; contact_codes, by which they confirm an address, and the confirmed ones.
import type { Knex } from 'knex';
import type { PlayerLinkStore } from '../../core/accounts/player/player-links.js';
import type { ConfirmationStore, PlayerAddress } from '../../core/notices/confirmations.js';
import { fromRow, inTransaction, toRow } from '../sql.js';
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

export function createConfirmationStore(db: Knex): ConfirmationStore {
  return {
    async confirmed(accountId) {
      const query = db('contact_codes').whereNotNull('confirmed_at');
      if (accountId !== undefined) query.where({ account_id: accountId });
      const rows: object[] = await query.select('account_id', 'channel', 'address');
      return rows.map((row) => fromRow<PlayerAddress>(row));
    },

    putCode: (to, code, pauseSince) =>
      inTransaction(db, async (trx) => {
        const lately = await trx('contact_codes')
          .where({ channel: to.channel, address: to.address })
          .where('sent_at', '>', pauseSince)
          .first();
        if (lately) return false;
        await trx('contact_codes')
          .insert(toRow({ ...to, ...code, tries: 0, confirmedAt: null }))
          .onConflict(['account_id', 'channel'])
          .merge();
        return true;
      }),

    async confirm({ accountId, channel, address }, hash, now, maxTries) {
      const own = () => db('contact_codes').where({ account_id: accountId, channel, address });
      const valid = () => own().where('expires_at', '>', now).where('tries', '<', maxTries);
      if ((await valid().where({ hash }).update({ confirmed_at: now, hash: null })) === 1) return true;
      await valid().whereNotNull('hash').increment('tries', 1);
      return false;
    },
  };
}
