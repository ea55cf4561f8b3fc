// /api/v1: where players connect, as links name it; set by the operator, or guessed.
import {
  isPublicHost,
  type LinkAddress,
  linkAddress,
  type PublicAddress,
} from '../../core/accounts/proxy-link.js';
import type { PublicAddressSetting } from '../../core/accounts/public-address-setting.js';
import { actorOf } from '../caller.js';
import type { settingsRoutes } from './contract/settings.js';
import { etagOf, matches } from './etag.js';
import type { Answered, Handlers } from './serve.js';

type Source = 'default' | 'file' | 'environment' | 'flag';

export interface PublicAddressUses {
  readonly publicAddress: PublicAddressSetting;
  /** What the configuration says, and where it says so. */
  readonly configuredAddress: PublicAddress & { readonly hostFrom: Source; readonly portFrom: Source };
  /** `host:port` of every SOCKS listener. */
  readonly socks: () => readonly string[];
}

/** @param hostname the host that the caller's browser names in its request */
export function linkAddressFor(
  { publicAddress, socks }: Pick<PublicAddressUses, 'publicAddress' | 'socks'>,
  hostname: string,
): LinkAddress {
  const [listener = ':1080'] = socks();
  const at = listener.lastIndexOf(':');
  return linkAddress(
    publicAddress.current(),
    { host: withoutBrackets(listener.slice(0, at)), port: Number(listener.slice(at + 1)) },
    { host: withoutBrackets(hostname), guess: 'browser' },
  );
}

type PublicAddressRoute = Extract<
  (typeof settingsRoutes)[number],
  { operationId: 'getPublicAddress' | 'setPublicAddress' }
>;

export function publicAddressHandlers(
  uses: PublicAddressUses & { readonly onChanged: () => void },
): Handlers<PublicAddressRoute> {
  const { publicAddress, configuredAddress: configured } = uses;

  function shown(hostname: string): Answered {
    const saved = publicAddress.saved();
    const { host, port } = publicAddress.current();
    const source = (isSaved: boolean, isSet: boolean, from: Source) =>
      isSaved ? 'console' : isSet ? from : 'default';
    const body = {
      host,
      hostSource: source(saved.host !== null, host !== null, configured.hostFrom),
      port,
      portSource: source(saved.port !== null, port !== null, configured.portFrom),
      configured: { host: configured.host, port: configured.port },
      link: linkAddressFor(uses, hostname),
    };
    return { status: 200, body, headers: { ETag: etagOf(saved) } };
  }

  return {
    getPublicAddress: async ({ ctx }) => shown(ctx.hostname),

    async setPublicAddress({ body, caller, ifMatch, ctx }) {
      if (!matches(ifMatch, etagOf(publicAddress.saved()))) return { problem: 'changed-meanwhile' };
      if (body.host !== null && !isPublicHost(body.host)) {
        const message = 'must be a host name or an IP address that players can connect to';
        return { problem: 'validation', errors: [{ path: 'body.host', message }] };
      }
      await publicAddress.save({ host: body.host, port: body.port }, actorOf(caller));
      uses.onChanged();
      return shown(ctx.hostname);
    },
  };
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
