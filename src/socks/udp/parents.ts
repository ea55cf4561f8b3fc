// The parent proxies that one association has sent through.
import { destinationFields } from '../upstream.js';
import type { Upstream } from '../upstreams.js';
import { Backlog } from './backlog.js';
import { type ParentOptions, ParentWay } from './parent.js';
import type { ThroughParent } from './parent-sources.js';

export class Parents {
  readonly #options: Omit<ParentOptions, 'upstream' | 'backlog'>;
  readonly #backlog: Backlog;
  /** By where they are and as whom we log in: several rules may name one parent. */
  readonly #ways = new Map<string, ParentWay>();

  constructor(options: Omit<ParentOptions, 'upstream' | 'backlog'>) {
    this.#options = options;
    this.#backlog = new Backlog(options.context.udp.maxWaitingForParent);
  }

  /** The way to a destination: `host` is an address, or a name that the parent resolves. */
  through(upstream: Upstream, host: string, port: number): { parent: ParentWay; as: ThroughParent } {
    const key = JSON.stringify([upstream.host, upstream.port, upstream.login]);
    const parent =
      this.#ways.get(key) ?? new ParentWay({ ...this.#options, upstream, backlog: this.#backlog });
    this.#ways.set(key, parent);
    // RSV and FRAG are zero; the rest is as in a request.
    const header = Buffer.concat([Buffer.alloc(3), destinationFields(host, port)]);
    return { parent, as: { host, port, header } };
  }

  close(): void {
    for (const way of this.#ways.values()) way.close();
    this.#ways.clear();
  }
}
