// /api/v1/settings/public-address: the address for players in links, set by the operator or guessed.
import { z } from 'zod';
import {
  isPublicHost,
  type LinkAddress as Link,
  linkAddress,
} from '../../../core/accounts/player/proxy-link.js';
import { etagOf, refuseChanged } from '../../api/etag.js';
import { invalid } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { actorOf } from '../../caller.js';
import type { LinkServices, Services, Source } from '../../services.js';

/** The address in links, QR codes and files for players. */
export const LinkAddress = z
  .object({
    host: z.string(),
    port: z.int().min(0).max(65_535),
    /** The source of a guessed host: the listener, or the address that this browser uses. Null: the host is set. */
    guess: z.enum(['listener', 'browser', 'interface']).nullable(),
  })
  .meta({ id: 'LinkAddress' });

const PublicHost = z.string().min(1).max(253).nullable();
const PublicPort = z.int().min(1).max(65_535).nullable();
const PublicSource = z.enum(['default', 'file', 'environment', 'flag', 'console']);

/** Null: not set. A saved value takes precedence over the configuration. */
const PublicAddress = z
  .object({
    host: PublicHost,
    hostSource: PublicSource,
    port: PublicPort,
    portSource: PublicSource,
    /** The values of the configuration: socks.publicHost and socks.publicPort. */
    configured: z.object({ host: PublicHost, port: PublicPort }),
    link: LinkAddress,
  })
  .meta({ id: 'PublicAddress' });

const { route } = routesOf('Settings');

export const publicAddressRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/settings/public-address',
      operationId: 'getPublicAddress',
      summary: 'The server address for players, as links contain it.',
      access: 'settings:read',
      etag: true,
      request: {},
      responses: {
        200: { description: 'The values, their sources, and the address in links.', schema: PublicAddress },
      },
    },
    async ({ ctx }, deps) => shown(deps, ctx.hostname),
  ),
  route(
    {
      method: 'PUT',
      path: '/api/v1/settings/public-address',
      operationId: 'setPublicAddress',
      summary: 'Sets the host and port in links; null restores the value of the configuration.',
      access: 'settings:write',
      etag: true,
      request: {
        body: z.object({ host: PublicHost, port: PublicPort }).meta({ id: 'PublicAddressChange' }),
      },
      responses: { 200: { description: 'As saved.', schema: PublicAddress } },
      problems: [412],
    },
    async ({ body, caller, ifMatch, ctx }, deps) => {
      const { publicAddress } = deps;
      if (body.host !== null && !isPublicHost(body.host)) {
        return invalid('body.host', 'host');
      }
      const address = { host: body.host, port: body.port };
      const refused = await publicAddress.save(address, actorOf(caller), (stored) =>
        refuseChanged(ifMatch, etagOf(stored)),
      );
      if (refused) return refused;
      deps.onSettingChanged();
      return shown(deps, ctx.hostname);
    },
  ),
];

/** @param hostname the host in the request of the caller's browser */
export function linkAddressFor({ publicAddress, socks }: LinkServices, hostname: string): Link {
  const [listener = ':1080'] = socks();
  const at = listener.lastIndexOf(':');
  return linkAddress(
    publicAddress.current(),
    { host: withoutBrackets(listener.slice(0, at)), port: Number(listener.slice(at + 1)) },
    { host: withoutBrackets(hostname), guess: 'browser' },
  );
}

function shown(deps: Services, hostname: string): Answered {
  const { publicAddress, configuredAddress: configured } = deps;
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
    link: linkAddressFor(deps, hostname),
  };
  return { status: 200, body, headers: { ETag: etagOf(saved) } };
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
