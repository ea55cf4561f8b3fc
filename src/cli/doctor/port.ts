// `pulsegate doctor`: checks whether the ports are free, or the running daemon's.
import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import { createServer } from 'node:net';
import type { Config } from '../../config.js';
import { StartError } from '../../core/errors.js';
import { listenOn, openServer } from '../../parts/listen.js';
import type { Finding } from './finding.js';

export async function checkPort(config: Config, name: 'socks' | 'admin'): Promise<Finding> {
  const { host: hosts, port } = config[name];
  const check = `${name} port`;
  try {
    const { close, addresses } = await listenOn({
      name,
      hosts,
      port,
      open: (where, isDualStack) => openServer(createServer(), where, isDualStack),
    });
    close();
    return { check, state: 'ok', text: port === 0 ? 'any free port' : `${addresses.join(', ')} free` };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    if (error.code === 'port-in-use' && (await isPulsegate(config)))
      return { check, state: 'ok', text: `${port} in use by the running daemon` };
    return { check, state: 'stop', text: error.message };
  }
}

const PROBE_MS = 2000;

/** Whether a Pulsegate listens on the admin port: its 401 response names the realm. */
function isPulsegate({ admin }: Config): Promise<boolean> {
  const host = admin.host[0] === '0.0.0.0' ? '127.0.0.1' : admin.host[0] === '::' ? '::1' : admin.host[0];
  // The certificate is not verified: the request sends no credentials and reads only the realm.
  const get = admin.tls.cert === null ? getPlain : getOverTls;
  const path = '/ProxyAccount/GetProxyAccountList';
  return new Promise((resolve) => {
    const request = get(
      { host, port: admin.port, path, timeout: PROBE_MS, rejectUnauthorized: false },
      (response) => {
        response.resume();
        resolve(/realm="Pulsegate"/.test(response.headers['www-authenticate'] ?? ''));
      },
    );
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', () => resolve(false));
  });
}
