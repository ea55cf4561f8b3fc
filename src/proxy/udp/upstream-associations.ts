// The upstream associations of one association, one for each upstream proxy.
import { destinationFields } from '../protocols/socks5-client.js';
import type { Upstream } from '../upstreams/rules.js';
import { Backlog } from './backlog.js';
import { UpstreamAssociation, type UpstreamAssociationOptions } from './upstream-association.js';
import type { UpstreamDestination } from './upstream-sources.js';

/** The way to a destination through an upstream proxy. */
export interface UpstreamHop {
  readonly association: UpstreamAssociation;
  readonly destination: UpstreamDestination;
}

type SharedOptions = Omit<UpstreamAssociationOptions, 'upstream' | 'backlog'>;

export class UpstreamAssociations {
  readonly #options: SharedOptions;
  readonly #backlog: Backlog;
  /** By address and credentials of the proxy: several rules may name the same proxy. */
  readonly #associations = new Map<string, UpstreamAssociation>();

  constructor(options: SharedOptions) {
    this.#options = options;
    this.#backlog = new Backlog(options.context.settings.udp.maxWaitingForUpstream);
  }

  /** The way to a destination: `host` is an address, or a name that the upstream proxy resolves. */
  hopTo(upstream: Upstream, host: string, port: number): UpstreamHop {
    const key = JSON.stringify([upstream.host, upstream.port, upstream.login]);
    const association =
      this.#associations.get(key) ??
      new UpstreamAssociation({ ...this.#options, upstream, backlog: this.#backlog });
    this.#associations.set(key, association);
    // RSV and FRAG are zero; the rest is as in a request.
    const header = Buffer.concat([Buffer.alloc(3), destinationFields(host, port)]);
    return { association, destination: { host, port, header } };
  }

  close(): void {
    for (const association of this.#associations.values()) association.close();
    this.#associations.clear();
  }
}
