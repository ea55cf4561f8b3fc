// The upstream associations of one association, one for each upstream proxy.
import { destinationFields } from '../protocols/socks5-client.js';
import type { Upstream } from '../upstreams/rules.js';
import { Backlog } from './backlog.js';
import { UpstreamAssociation, type UpstreamAssociationOptions } from './upstream-association.js';
import type { ThroughUpstream } from './upstream-sources.js';

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

  /** How a destination is reached: `host` is an address, or a name that the upstream proxy resolves. */
  through(
    upstream: Upstream,
    host: string,
    port: number,
  ): { readonly proxy: UpstreamAssociation; readonly as: ThroughUpstream } {
    const key = JSON.stringify([upstream.host, upstream.port, upstream.login]);
    const proxy =
      this.#associations.get(key) ??
      new UpstreamAssociation({ ...this.#options, upstream, backlog: this.#backlog });
    this.#associations.set(key, proxy);
    // RSV and FRAG are zero; the rest is as in a request.
    const header = Buffer.concat([Buffer.alloc(3), destinationFields(host, port)]);
    return { proxy, as: { host, port, header } };
  }

  close(): void {
    for (const association of this.#associations.values()) association.close();
    this.#associations.clear();
  }
}
