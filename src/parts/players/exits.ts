// Exits on this machine: what it cannot do for one, the trial of one, and what sessions use of each.
import type { Config } from '../../config.js';
import type { ExitFigures, ExitTrial } from '../../core/exits/exit-figures.js';
import type { Services } from '../../http/services.js';
import { AF_INET, type Libc, SOCK_DGRAM } from '../../proxy/io/native/libc.js';
import { setWayOut } from '../../proxy/io/native/local-end.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { Core } from '../core.js';

/** @param libc null with the node engine */
export function createExits(
  options: {
    readonly core: Pick<Core, 'exits' | 'sessions'>;
    readonly config: Config;
    readonly exitFigures: ExitFigures;
  },
  plane: ProxyPlane,
  libc: Libc | null,
): Pick<Services, 'machineProblem' | 'testExit' | 'exitFigures'> {
  const { core, config, exitFigures } = options;
  core.sessions.subscribe(exitFigures);
  core.exits.onChanged(() => exitFigures.keepOnly(core.exits.list()));
  const server = new URL(config.egress.exitTest);
  return {
    exitFigures,

    machineProblem({ addresses, interface: device, mark }) {
      const isSpecial =
        device !== null || mark !== null || addresses.some((address) => address.includes('/'));
      if (!isSpecial) return null;
      if (libc === null) return 'exit-needs-native';
      const fd = libc.socket(AF_INET, SOCK_DGRAM);
      if (fd < 0) return null;
      const code = setWayOut(libc, fd, { address: null, isFree: false, interface: device, mark });
      libc.close(fd);
      if (code === 'ENODEV') return 'exit-no-interface';
      return code === 'EPERM' ? 'exit-needs-net-admin' : null;
    },

    async testExit(exit): Promise<ExitTrial> {
      const { hostname, host, port, pathname, search } = server;
      const request = `GET ${pathname}${search} HTTP/1.0\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80 };
      const trial = await plane.requests.tryExit({ exit, ...to, request });
      return trial ?? { ok: false, reason: 'worker-ended' };
    },
  };
}
