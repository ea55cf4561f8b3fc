// Outgoing addresses of accounts of CCProxy: an account gets the exit that leaves from its address alone. Where there is none yet, the
// import adds it.
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import type { AccountViews } from '../core/accounts/account-query.js';
import type { Accounts } from '../core/accounts/accounts.js';
import type { Actor } from '../core/audit/audit.js';
import { type Exit, isExitAddress, MAX_EXITS } from '../core/exits/exit.js';
import type { ExitsSetting } from '../core/exits/exits-setting.js';
import { formatIp, parseIp } from '../core/ip.js';
import type { OnExisting, PlanDeps } from './import-plan.js';
import type { LostSetting } from './reasons.js';
import type { FileRecord } from './record.js';

export interface OutgoingDeps {
  readonly accounts: Pick<AccountViews, 'getByUsername'> & Pick<Accounts, 'hasExit'>;
  readonly existing: OnExisting;
  readonly exits: Pick<ExitsSetting, 'list' | 'isFixed' | 'add'>;
  readonly mayChange: PlanDeps['mayChange'];
  /** Whether the caller may add exits, and set that of accounts. */
  readonly mayAddExits: boolean;
  readonly onLost: (setting: LostSetting) => void;
  /** Called for each exit that was added, or would be in a dry run. */
  readonly onExit: () => void;
}

interface NewExit {
  readonly name: string;
  readonly address: string;
}

export type Outgoing = ReturnType<typeof createOutgoing>;

/** Chooses the exits of the accounts of one file. */
export function createOutgoing({ accounts, exits, ...deps }: OutgoingDeps) {
  /** Names of exits to add, by address. Those of a dry run stay here. */
  const planned = new Map<string, string>();
  const made = new Set<string>();
  const owned = new Map<string, Promise<boolean>>();

  function isOwn(address: string): Promise<boolean> {
    const known = owned.get(address) ?? isOwnAddress(address);
    owned.set(address, known);
    return known;
  }

  /** The name of the exit to add, or why there is none. */
  async function plan(address: string): Promise<{ readonly exit: string } | LostSetting> {
    if (!isExitAddress(address) || !(await isOwn(address))) return 'outgoing-address';
    const known = planned.get(address);
    if (known !== undefined) return { exit: known };
    const waiting = [...planned.values()].filter((name) => !made.has(name));
    const stored = exits.list().filter(({ name }) => !exits.isFixed(name));
    if (stored.length + waiting.length >= MAX_EXITS) return 'outgoing-exits';
    const taken = new Set([...exits.list().map(({ name }) => name), ...planned.values()]);
    // A name has no colon.
    const name = address.replaceAll(':', '-');
    let exit = name;
    for (let n = 2; taken.has(exit); n += 1) exit = `${name}_${n}`;
    planned.set(address, exit);
    return { exit };
  }

  async function exitFor(
    text: string,
    existing: Account | null,
  ): Promise<{ readonly exit: string } | LostSetting> {
    const ip = parseIp(text);
    if (!ip) return 'outgoing-address';
    const address = formatIp(ip);
    const same = exits
      .list()
      .filter((exit) => leavesFrom(exit, address))
      .map(({ name }) => name);
    if (existing?.exit != null && same.includes(existing.exit)) return { exit: existing.exit };
    const exit = same.find((name) => accounts.hasExit(name, existing?.owner));
    if (exit !== undefined) return deps.mayChange({ exit }, existing) ? { exit } : 'outgoing-exit';
    // A new exit is given to no seller.
    if (same.length > 0 || !deps.mayAddExits || (existing?.owner ?? null) !== null) return 'outgoing-exit';
    return plan(address);
  }

  return {
    /** Whether an exit is added before the accounts that name it. */
    isPlanned: (exit: string): boolean => [...planned.values()].includes(exit),

    /** Returns the record with the exit that leaves from its outgoing address, if it has one and the account can get it. */
    async withExit(record: FileRecord): Promise<FileRecord> {
      if ('fault' in record || record.account.outgoingAddress === undefined) return record;
      const existing = accounts.getByUsername(record.account.username)?.account ?? null;
      if (existing && deps.existing !== 'replace') return record;
      const found = await exitFor(record.account.outgoingAddress, existing);
      if (typeof found === 'object') return { ...record, account: { ...record.account, ...found } };
      deps.onLost(found);
      return record;
    },

    /** The exits among `names` that are still to add, with the address of each. */
    toAdd: (names: ReadonlySet<string>): readonly NewExit[] =>
      [...planned].flatMap(([address, name]) =>
        names.has(name) && !made.has(name) ? { address, name } : [],
      ),

    /**
     * Adds exits, and returns the names of those that could not be added, because another process has added exits meanwhile.
     * @param by null: in a dry run
     */
    async add(added: readonly NewExit[], by: Actor | null): Promise<ReadonlySet<string>> {
      const refused = new Set<string>();
      for (const { address, name } of added) {
        if (by && (await exits.add(name, { addresses: [address] }, by))) refused.add(name);
        else deps.onExit();
        made.add(name);
      }
      return refused;
    },
  };
}

/** Whether sessions of an exit leave from `address`, in its canonical form, and nowhere else, as they would without an exit. */
function leavesFrom(
  { addresses: [only = '', ...more], upstreams, interface: device, mark, family }: Exit,
  address: string,
) {
  const ip = parseIp(only);
  const isPlain = upstreams.length === 0 && device === null && mark === null && family === null;
  return ip !== null && formatIp(ip) === address && more.length === 0 && isPlain;
}

/** Whether sockets of this machine can be bound to the address. */
function isOwnAddress(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind({ address }, () => resolve(true));
  }).finally(() => socket.close());
}
