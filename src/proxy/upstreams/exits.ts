// The exits as one worker knows them: what a session gets of its exit, which proxies of an exit answer, and what has failed.
import { createHash, randomBytes } from 'node:crypto';
import type { IpBytes } from '../../core/addresses/ip.js';
import {
  addressesOf,
  chooseAddress,
  type Exit,
  mayOwnerUse,
  NEW_EXIT,
  parseProxy,
  upstreamId,
  waysOf,
} from '../../core/exits/exit.js';
import type { LocalEnd, LocalEnds } from '../io/local-end.js';
import type { WorkerEvent } from '../messages.js';
import type { ProxySettings } from '../plane-settings.js';
import type { Upstream } from './rules.js';

/**
 * How long a proxy that did not answer comes after the others, and how long it must answer until it is reported, in ms: one that answers
 * now and then would be reported with every session.
 */
const DEAD_FOR_MS = 10_000;

/** What one session uses of an exit. */
export interface ExitUse extends LocalEnds {
  readonly name: string;
  readonly prefersIpv4: boolean;
  /** Says the exit's preference; without one, IPv4 is taken where only one address can be tried. */
  readonly prefersIpv6: boolean;
  /** None: directly. */
  readonly upstreams: readonly Upstream[];
}

/** Those of `addresses` whose family leaves by the exit. */
export function leavingBy(exit: ExitUse | null, addresses: readonly string[]): readonly string[] {
  if (exit === null) return addresses;
  return addresses.filter((address) => (address.includes(':') ? exit.ipv6 : exit.ipv4) !== null);
}

/** The proxies for a destination, in their order; none: directly. A rule of the configuration comes before the exit. */
export function proxiesOf(rule: Upstream | null | undefined, exit: ExitUse | null): readonly Upstream[] {
  if (rule === undefined) return exit?.upstreams ?? [];
  return rule === null ? [] : [rule];
}

interface Known {
  readonly exit: Exit;
  readonly upstreams: readonly Upstream[];
  /** Of the next session, where addresses take turns. */
  turn: number;
}

/** Whether a way out of an exit works. */
interface Health {
  isUp: boolean;
  /** Why it does not. */
  reason: string;
  /** Since when, in ms. */
  since: number;
  /** What the control plane knows. */
  reported: boolean | null;
}

/** One way out of an exit, to check. */
export interface ExitWay {
  readonly id: string;
  readonly exit: ExitUse;
  /** Null: directly from `end`. */
  readonly upstream: Upstream | null;
  readonly end: LocalEnd | null;
  readonly isIpv6: boolean;
}

export class WorkerExits {
  readonly #fixed: readonly Known[];
  readonly #now: () => number;
  /** A dead proxy is found to answer again without a session that tries it. */
  readonly #isChecked: boolean;
  readonly #report: (event: WorkerEvent) => void;
  /** By the way; see waysOf. */
  readonly #health = new Map<string, Health>();
  /** Failed connections since the last report, by exit. */
  readonly #failures = new Map<string, number>();
  #known = new Map<string, Known>();
  /** Whether an address is one of an exit: it leads to this machine, also where no interface has it. */
  hasAddress: (ip: IpBytes) => boolean = () => false;
  #default: string | null = null;
  readonly #choosable: ReadonlySet<string>;

  /**
   * @param settings the proxies of its rules are exits too
   * @param now monotonic, in ms
   */
  constructor(
    {
      upstreams: rules,
      exitChecks,
      exitSuffix,
    }: Pick<ProxySettings, 'upstreams' | 'exitChecks' | 'exitSuffix'>,
    exits: readonly Exit[],
    now: () => number,
    report: (event: WorkerEvent) => void,
  ) {
    this.#choosable = new Set(exitSuffix);
    this.#fixed = rules.flatMap(({ upstream }) =>
      upstream === null
        ? []
        : [{ exit: { ...NEW_EXIT, name: upstream.exit }, upstreams: [upstream], turn: 0 }],
    );
    this.#now = now;
    this.#isChecked = exitChecks.intervalMs > 0;
    this.#report = report;
    this.set(exits);
  }

  /** Replaces the operator's exits. Live sessions keep what they have. */
  set(exits: readonly Exit[]): void {
    const known = [...exits.map((exit) => ({ exit, upstreams: upstreamsOf(exit), turn: 0 })), ...this.#fixed];
    this.#known = new Map(known.map((each) => [each.exit.name, each]));
    this.#default = [...this.#known.values()].find(({ exit }) => exit.isDefault)?.exit.name ?? null;
    this.hasAddress = addressesOf(exits);
    const ways = new Set(known.flatMap(wayIdsOf));
    for (const way of this.#health.keys()) if (!ways.has(way)) this.#health.delete(way);
  }

  /**
   * What a session of the account gets of an exit.
   * @param name null: the default exit, or none
   * @param isLast false: it is asked again for the same session
   * @returns undefined: there is no exit of this name
   */
  use(name: string | null, accountId: string, isLast = true): ExitUse | null | undefined {
    const chosen = name ?? this.#default;
    if (chosen === null) return null;
    const known = this.#known.get(chosen);
    if (known === undefined) return undefined;
    const { exit, upstreams } = known;
    const isOfAccount = exit.choose === 'account';
    const host = isOfAccount ? createHash('sha256').update(accountId).digest() : randomBytes(16);
    const turn = isOfAccount ? host.readUInt32LE(16) : known.turn;
    if (isLast) known.turn += 1;
    return {
      name: chosen,
      ipv4: endOf(exit, false, turn, host),
      ipv6: endOf(exit, true, turn, host),
      prefersIpv4: exit.family === 'prefer-ipv4',
      prefersIpv6: exit.family === 'prefer-ipv6',
      upstreams: upstreams.length < 2 ? upstreams : this.#living(upstreams),
    };
  }

  /** Every way out of every exit. */
  ways(accountId: string): readonly ExitWay[] {
    return [...this.#known.values()].flatMap((known) => {
      const { exit, upstreams } = known;
      const use = this.use(exit.name, accountId, false);
      if (!use) return [];
      return wayIdsOf(known).map((id, i) => {
        const addresses = exit.addresses.slice(i, i + 1);
        const isIpv6 = addresses[0]?.includes(':') ?? exit.family === 'ipv6';
        const end = endOf({ ...exit, addresses, family: null }, isIpv6, 0, randomBytes(16));
        return { id, exit: use, upstream: upstreams[i] ?? null, end, isIpv6 };
      });
    });
  }

  /**
   * A way out works, or does not, for this reason.
   * @param isCheck not by chance: a success is reported at once
   */
  setUp(way: string, isUp: boolean, reason = '', isCheck = false): void {
    const known = this.#health.get(way);
    const since = isCheck && isUp ? Number.NEGATIVE_INFINITY : this.#now();
    if (known === undefined) this.#health.set(way, { isUp, reason, since, reported: null });
    else if (known.isUp !== isUp || !isUp || isCheck) Object.assign(known, { isUp, reason, since });
  }

  /** What the control plane knows of the ways, from all workers. */
  setWays(ways: ReadonlyMap<string, boolean>): void {
    for (const [way, isUp] of ways) {
      this.setUp(way, isUp);
      Object.assign(this.#health.get(way) ?? {}, { reported: isUp });
    }
  }

  /** A connection by the exit has failed; null: by none. */
  failed(exit: string | null): void {
    if (exit !== null) this.#failures.set(exit, (this.#failures.get(exit) ?? 0) + 1);
  }

  /** Reports what has changed. Call it every second. */
  tick(): void {
    for (const [exit, count] of this.#failures) this.#report({ kind: 'exit-failed', exit, count });
    this.#failures.clear();
    for (const [way, health] of this.#health) {
      const { isUp, reason, since, reported } = health;
      const isLasting = !isUp || reported === null || this.#now() - since >= DEAD_FOR_MS;
      if (isUp === reported || !isLasting) continue;
      health.reported = isUp;
      this.#report({ kind: 'exit-way', way, isUp, reason });
    }
  }

  /** Whether a client of the account may choose the exit by a suffix of the user name. A seller's account: only one that the seller has. */
  readonly mayChoose = (name: string, { owner }: { readonly owner: string | null }): boolean =>
    this.#choosable.has(name) &&
    this.#known.has(name) &&
    mayOwnerUse(this.#known.get(name)?.exit ?? NEW_EXIT, owner);

  /** In their order, but those that did not answer lately last. */
  #living(upstreams: readonly Upstream[]): readonly Upstream[] {
    const isDead = ({ id }: Upstream): boolean => {
      const { isUp = true, since = 0 } = this.#health.get(id) ?? {};
      return !isUp && (this.#isChecked || this.#now() - since < DEAD_FOR_MS);
    };
    return [...upstreams].sort((a, b) => Number(isDead(a)) - Number(isDead(b)));
  }
}

/** See chooseAddress; null: none towards this family. */
function endOf(exit: Exit, isIpv6: boolean, turn: number, host: Uint8Array): LocalEnd | null {
  const chosen = chooseAddress(exit, isIpv6, turn, host);
  const isOther = exit.family === (isIpv6 ? 'ipv4' : 'ipv6');
  if (isOther || (chosen === undefined && exit.addresses.length > 0)) return null;
  const { address = null, isOfNetwork = false } = chosen ?? {};
  return { address, isFree: isOfNetwork, interface: exit.interface, mark: exit.mark };
}

/** A proxy of the configuration is in no field of its exit. */
const wayIdsOf = ({ exit, upstreams }: Known): readonly string[] =>
  upstreams.length > 0 ? upstreams.map(({ id }) => id) : waysOf(exit);

function upstreamsOf({ name, names, upstreams }: Exit): readonly Upstream[] {
  return upstreams.flatMap(({ proxy, username, password }) => {
    const where = parseProxy(proxy);
    const login = username === null || password === null ? null : { username, password };
    const id = upstreamId(name, { proxy, username });
    return where === null ? [] : [{ ...where, login, names, exit: name, id }];
  });
}
