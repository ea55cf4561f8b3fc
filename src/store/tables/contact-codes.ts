// The contact_codes table: the codes by which players confirm their addresses, and the confirmed addresses.
import type { Knex } from 'knex';
import type { ConfirmationStore, ConfirmedChannel } from '../../core/notices/confirmations.js';
import { inTransaction } from '../sql/transaction.js';

export function createConfirmationStore(db: Knex): ConfirmationStore {
  return {
    async confirmed(accountId) {
      const query = db('contact_codes').whereNotNull('confirmed_at');
      if (accountId !== undefined) query.where({ account_id: accountId });
      const rows: { account_id: string; channel: string; address: string }[] = await query;
      return rows.map(({ account_id, channel, address }) => ({
        accountId: account_id,
        channel: channel as ConfirmedChannel,
        address,
      }));
    },

    putCode: ({ accountId, channel, address }, { hash, sentAt, expiresAt }, pauseSince) =>
      inTransaction(db, async (trx) => {
        const lately = await trx('contact_codes')
          .where({ channel, address })
          .where('sent_at', '>', pauseSince)
          .first();
        if (lately) return false;
        const row = { account_id: accountId, channel, address, hash, sent_at: sentAt, expires_at: expiresAt };
        await trx('contact_codes')
          .insert({ ...row, tries: 0, confirmed_at: null })
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
