// The tables of players: player_links, their secret addresses; contact_codes, by which they confirm an address, and the confirmed ones.
import { createHash } from 'node:crypto';
import type { PlayerLinks } from '../../core/accounts/player/subscription.js';
import { auditRecord } from '../../core/audit/audit.js';
import type { ConfirmationStore, PlayerAddress } from '../../core/notices/confirmations.js';
import type { StoreContext } from '../database.js';
import { find, having, inTransaction, toRow } from '../sql.js';
import { changeAccounts, mayChange } from './operators.js';

export function createPlayerLinkStore({ db, recordAudit }: StoreContext): PlayerLinks {
  return {
    has: async (accountId) =>
      (await db('player_links').where({ account_id: accountId }).first('account_id')) !== undefined,

    async find(kind, token) {
      const hash = createHash('sha256').update(token).digest('hex');
      const row: { account_id: string } | undefined = await db('player_links')
        .where({ hash, kind })
        .first('account_id');
      return row?.account_id ?? null;
    },

    revoke: ({ id, username }, by) =>
      changeAccounts(db, by, async (trx, operator) => {
        const account: { owner: string | null } | undefined = await trx('accounts')
          .where({ id })
          .forUpdate()
          .first('owner');
        if (!account || !mayChange(operator, account.owner)) return false;
        const removed = await trx('player_links').where({ account_id: id }).delete();
        const object = { type: 'account', id, name: username } as const;
        if (removed > 0) await recordAudit(trx, [auditRecord(by, 'account.player-link-revoke', object)]);
        return removed > 0;
      }),
  };
}

export function createConfirmationStore({ db }: StoreContext): ConfirmationStore {
  return {
    async confirmed(accountId) {
      const query = having(db('contact_codes').whereNotNull('confirmed_at'), { account_id: accountId });
      return find<PlayerAddress>(query.select('account_id', 'channel', 'address'));
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
