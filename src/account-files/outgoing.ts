// Outgoing addresses of accounts of CCProxy: an account gets the exit that leaves from its address alone. Where there is none yet, the
// import adds it.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import type { AccountViews } from '../core/accounts/account-query.js';
import type { Accounts } from '../core/accounts/accounts.js';
import { formatIp, parseIp } from '../core/addresses/ip.js';
import type { Actor } from '../core/audit/audit.js';
import { type Exit, isExitAddress, MAX_EXITS } from '../core/exits/exit.js';
import type { ExitsSetting } from '../core/exits/exits-setting.js';
import type { ItemDeps, OnExisting } from './import-items.js';
import type { LostSetting } from './reasons.js';
import type { FileRecord } from './record.js';

export interface OutgoingDeps {
  readonly accounts: Pick<AccountViews, 'getByUsername'> & Pick<Accounts, 'hasExit'>;
  readonly existing: OnExisting;
  readonly exits: Pick<ExitsSetting, 'list' | 'isFixed' | 'add'>;
  readonly mayChange: ItemDeps['mayChange'];
  /** Whether the caller may add exits, and set that of accounts. */
  readonly mayAddExits: boolean;
  readonly onLost: (setting: LostSetting) => void;
  /** Called for each exit that was added, or would be in a dry run. */
  readonly onExit: () => void;
}

/** A name, or why there is no exit. */
type Choice = { readonly exit: string } | LostSetting;
export type Outgoing = ReturnType<typeof createOutgoing>;

export function createOutgoing({ accounts, exits, ...deps }: OutgoingDeps) {
  /** By the address of each exit to add. Those of a dry run are never stored. */
  const toAdd = new Map<string, Choice>();
  const added = new Set<string>();
  const namesToAdd = (): string[] =>
    [...toAdd.values()].flatMap((choice) => (typeof choice === 'object' ? choice.exit : []));

  async function newExit(address: string): Promise<Choice> {
    if (!isExitAddress(address) || !(await isOwnAddress(address))) return 'outgoing-address';
    const taken = new Set([...exits.list().map(({ name }) => name), ...namesToAdd()]);
    if ([...taken].filter((name) => !exits.isFixed(name)).length >= MAX_EXITS) return 'outgoing-exits';
    // A name has no colon.
    const name = address.replaceAll(':', '-');
    let exit = name;
    for (let n = 2; taken.has(exit); n += 1) exit = `${name}_${n}`;
    return { exit };
  }

  async function choose(text: string, existing: Account | null): Promise<Choice> {
    const ip = parseIp(text);
    if (!ip) return 'outgoing-address';
    const address = formatIp(ip);
    const same = exits.list().flatMap((exit) => (outgoingAddressOf(exit) === address ? exit.name : []));
    if (existing?.exit != null && same.includes(existing.exit)) return { exit: existing.exit };
    const exit = same.find((name) => accounts.hasExit(name, existing?.owner));
    if (exit !== undefined) return deps.mayChange({ exit }, existing) ? { exit } : 'outgoing-exit';
    // A new exit is given to no seller.
    if (same.length > 0 || !deps.mayAddExits || (existing?.owner ?? null) !== null) return 'outgoing-exit';
    const choice = toAdd.get(address) ?? (await newExit(address));
    toAdd.set(address, choice);
    return choice;
  }

  return {
    /** Whether an exit is added before the accounts that name it. */
    isToAdd: (exit: string): boolean => namesToAdd().includes(exit),

    /** Returns the record with the exit that leaves from its outgoing address, if it has one and the account can get it. */
    async withExit(record: FileRecord): Promise<FileRecord> {
      if ('fault' in record || record.account.outgoingAddress === undefined) return record;
      const existing = accounts.getByUsername(record.account.username)?.account ?? null;
      if (existing && deps.existing !== 'replace') return record;
      const choice = await choose(record.account.outgoingAddress, existing);
      if (typeof choice === 'object') return { ...record, account: { ...record.account, ...choice } };
      deps.onLost(choice);
      return record;
    },

    mustAdd: (names: ReadonlySet<string>): boolean =>
      namesToAdd().some((name) => names.has(name) && !added.has(name)),

    /**
     * Adds the exits to add among `names`, and returns those that could not be added, because another process has added exits
     * meanwhile. @param by null: in a dry run
     */
    async add(names: ReadonlySet<string>, by: Actor | null): Promise<ReadonlySet<string>> {
      const refused = new Set<string>();
      for (const [address, choice] of toAdd) {
        if (typeof choice !== 'object' || added.has(choice.exit) || !names.has(choice.exit)) continue;
        if (by && (await exits.add(choice.exit, { addresses: [address] }, by))) refused.add(choice.exit);
        else deps.onExit();
        added.add(choice.exit);
      }
      return refused;
    },
  };
}

/** The address, in its canonical form, from which sessions of an exit leave, if they else leave as they would without an exit. */
export function outgoingAddressOf({
  addresses,
  upstreams,
  interface: device,
  mark,
  family,
}: Exit): string | null {
  const ip = addresses.length === 1 ? parseIp(addresses[0] ?? '') : null;
  const isPlain = upstreams.length === 0 && device === null && mark === null && family === null;
  return ip !== null && isPlain ? formatIp(ip) : null;
}

/** Whether sockets of this machine can be bound to the address. */
function isOwnAddress(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  socket.bind({ address });
  return once(socket, 'listening')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.close());
}
