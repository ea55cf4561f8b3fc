// The contact_codes table: the codes by which players confirm their addresses, and the confirmed addresses.
import type { Knex } from 'knex';
import type { ConfirmationStore, PlayerAddress } from '../../core/notices/confirmations.js';
import { fromRow, toRow } from '../sql/rows.js';
import { inTransaction } from '../sql/transaction.js';

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
