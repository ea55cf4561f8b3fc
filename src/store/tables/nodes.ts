// The nodes table. Its times come from the clock of the database, so that the clocks of the nodes do not matter.
import {
  type Claimed,
  type FleetNode,
  NODES_KEY,
  type NodeAddresses,
  type NodeClaim,
  type NodeLoad,
  type NodeState,
  type NodeStore,
} from '../../core/nodes/nodes.js';
import { DAY_MS } from '../../core/time/clock.js';
import type { StoreContext } from '../database.js';
import { inTransaction } from '../sql.js';
import { changeSetting } from './settings.js';

/** A node that has not renewed its lease for this time is removed, with the numbers of its written batches. */
const KEPT_MS = 7 * DAY_MS;

const NO_LOAD: NodeLoad = {
  sessions: 0,
  accountsOnline: 0,
  bytesPerSecondUp: 0,
  bytesPerSecondDown: 0,
  cpuPercent: 0,
  databaseDelayMs: null,
};

interface NodeRow extends Omit<NodeClaim, 'leaseMs'> {
  addresses: string;
  load: string;
  started_at: number;
  renewed_at: number;
  lease_until: number | null;
  drained_at: number | null;
  now: number;
}

export function createNodeStore(context: StoreContext): NodeStore {
  const { db, nowMs, isShared } = context;
  const now = db.raw(nowMs);
  // A SQLite file may be a copy from another machine, with that machine's row. This daemon is the only one, so the row is free.
  const isFree = isShared
    ? '(nodes.owner = excluded.owner or nodes.lease_until is null or nodes.lease_until < excluded.renewed_at)'
    : 'true';

  return {
    claim: ({ name, folderId, process, version, leaseMs }) =>
      inTransaction(db, async (trx): Promise<Claimed> => {
        const expired = trx('nodes').whereNot({ name });
        if (isShared) expired.where('renewed_at', '<', trx.raw(`${nowMs} - ${KEPT_MS}`));
        await expired.delete();
        if (isShared)
          await trx('written_batches')
            .where('written_at', '<', trx.raw(`${nowMs} - ${KEPT_MS}`))
            .delete();
        await trx.raw(
          `insert into nodes (name, owner, process, version, addresses, load, started_at, renewed_at, lease_until)
           values (?, ?, ?, ?, ?, ?, ${nowMs}, ${nowMs}, ${nowMs} + cast(? as bigint))
           on conflict (name) do update set owner = excluded.owner, process = excluded.process,
             version = excluded.version, addresses = excluded.addresses, load = excluded.load,
             started_at = excluded.started_at, renewed_at = excluded.renewed_at, lease_until = excluded.lease_until
           where ${isFree}`,
          [name, folderId, process, version, JSON.stringify(NO_ADDRESSES), JSON.stringify(NO_LOAD), leaseMs],
        );
        const row: NodeRow | undefined = await trx('nodes').where({ name }).first('*', { now });
        if (row?.process === process) return { ok: true, isDrained: row.drained_at !== null };
        return { ok: false, renewedAt: row?.renewed_at ?? 0, leaseLeftMs: row ? leaseLeft(row) : 0 };
      }),

    async renew({ name, process, version, leaseMs }, { addresses, load }) {
      const renewed: Pick<NodeRow, 'drained_at'>[] = await db('nodes')
        .where({ name, process })
        .update({
          addresses: JSON.stringify(addresses),
          load: JSON.stringify(load),
          renewed_at: now,
          lease_until: db.raw(`${nowMs} + cast(? as bigint)`, [leaseMs]),
        })
        .returning('drained_at');
      const [row] = renewed;
      if (!row) return null;
      const isDrained = row.drained_at !== null;
      if (!isShared) return { isDrained, isFirst: true, otherVersions: [] };
      const live: Pick<NodeRow, 'name' | 'version'>[] = await db('nodes')
        .where('lease_until', '>=', now)
        .orderBy('name')
        .select('name', 'version');
      const versions = new Set(live.map((node) => node.version));
      versions.delete(version);
      return { isDrained, isFirst: live[0]?.name === name, otherVersions: [...versions] };
    },

    async release({ name, process }) {
      await db('nodes')
        .where({ name, process })
        .update({ renewed_at: now, lease_until: null, load: JSON.stringify(NO_LOAD) });
    },

    async list() {
      const rows: NodeRow[] = await db('nodes').select('*', { now }).orderBy('name');
      return rows.map(toNode);
    },

    setDrained: (name, isDrained, audit) =>
      changeSetting(context, NODES_KEY, audit, async (trx) => {
        const drained_at = isDrained ? trx.raw(`coalesce(drained_at, ${nowMs})`) : null;
        return (await trx('nodes').where({ name }).update({ drained_at })) > 0;
      }),
  };
}

const NO_ADDRESSES: NodeAddresses = { socks: [], admin: [], players: null };

const leaseLeft = ({ lease_until, now }: NodeRow): number =>
  lease_until === null ? 0 : Math.max(0, lease_until - now);

function stateOf({ lease_until, drained_at }: NodeRow, leaseLeftMs: number, sessions: number): NodeState {
  if (lease_until === null) return 'stopped';
  if (leaseLeftMs === 0) return 'lost';
  if (drained_at === null) return 'serving';
  return sessions > 0 ? 'draining' : 'drained';
}

function toNode(row: NodeRow): FleetNode {
  const load: NodeLoad = { ...NO_LOAD, ...(JSON.parse(row.load) as Partial<NodeLoad>) };
  const addresses = { ...NO_ADDRESSES, ...(JSON.parse(row.addresses) as Partial<NodeAddresses>) };
  const { name, version, started_at: startedAt, renewed_at: renewedAt } = row;
  const leaseLeftMs = leaseLeft(row);
  const isDrained = row.drained_at !== null;
  const state = stateOf(row, leaseLeftMs, load.sessions);
  return { name, state, isDrained, version, addresses, load, startedAt, renewedAt, leaseLeftMs };
}
