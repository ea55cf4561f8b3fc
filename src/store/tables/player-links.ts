// The player_links table: the secret addresses of players.
import type { Knex } from 'knex';
import type { PlayerLink, PlayerLinkStore } from '../../core/accounts/player/player-links.js';
import type { AuditRecord } from '../../core/audit/audit.js';
import { fromRow, toRow } from '../sql/rows.js';
import { changeAccounts, mayChange } from './acting.js';
import type { RecordAudit } from './audit.js';

export function createPlayerLinkStore(db: Knex, recordAudit: RecordAudit): PlayerLinkStore {
  /** Runs a change of an account. Returns false when the account does not exist or the operator may no longer change it. */
  const change = (
    id: string,
    audit: AuditRecord,
    write: (trx: Knex.Transaction) => Promise<boolean>,
  ): Promise<boolean> =>
    changeAccounts(db, audit.by, async (trx, operator) => {
      const account: { owner: string | null } | undefined = await trx('accounts')
        .where({ id })
        .forUpdate()
        .first('owner');
      if (!account || !mayChange(operator, account.owner) || !(await write(trx))) return false;
      await recordAudit(trx, [audit]);
      return true;
    });

  return {
    async ofAccount(accountId) {
      const rows: object[] = await db('player_links').where({ account_id: accountId });
      return rows.map((row) => fromRow<PlayerLink>(row));
    },

    async find(kind, hash) {
      const row: { account_id: string } | undefined = await db('player_links')
        .where({ hash, kind })
        .first('account_id');
      return row?.account_id ?? null;
    },

    put: (link, audit) =>
      change(link.accountId, audit, async (trx) => {
        await trx('player_links').insert(toRow(link)).onConflict(['account_id', 'kind']).merge();
        return true;
      }),

    remove: (accountId, kind, audit) =>
      change(accountId, audit, async (trx) => {
        const removed = await trx('player_links').where({ account_id: accountId, kind }).delete();
        return removed > 0;
      }),
  };
}
