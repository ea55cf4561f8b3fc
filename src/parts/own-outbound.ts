// Detects requests to the admin port that come through the proxy, from one of its own outbound sockets.
import { parseIp, unmap } from '../core/ip.js';
import { createIsOwnOutbound } from '../core/sessions/outbound.js';
import type { IsOwnOutbound } from '../http/guards/own-outbound.js';
import type { ProxyPlane } from '../proxy/plane/plane.js';
import { createIsLocalAddress } from '../proxy/worker/local-addresses.js';
import { isConnectedHere } from './tcp-table.js';

export function ownOutboundCheck(plane: Pick<ProxyPlane, 'ownPorts' | 'findOutbound'>): IsOwnOutbound {
  const isLocalAddress = createIsLocalAddress(() => performance.now());
  return createIsOwnOutbound({
    hasPort: (port) => plane.ownPorts.has('tcp-outbound', port),
    isLocal(address) {
      const ip = parseIp(address);
      return ip !== null && isLocalAddress(unmap(ip));
    },
    remotesOf: ({ address, port }) => plane.findOutbound(address, port),
    isConnected: isConnectedHere,
  });
}
