// Checks the configured files for `config check` and `doctor`. The daemon makes the same checks at its start.
import { X509Certificate } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { allowWarnings, lostPaths } from '../agents/confinement/access.js';
import { readSecretFile, SecretFileError, senderSecrets } from '../agents/secrets.js';
import { type Config, ConfigError, type Problem, readPem, readTlsFiles } from '../config.js';
import { succeeds } from '../core/errors.js';
import { parseProxy } from '../core/exits/exit.js';
import { geoWarnings, readGeoFiles } from './geo.js';
import { tlsFilesOf } from './listeners/certificates.js';

const WRITTEN_BY_OTHERS = 0o002;

/** Returns the problems of certificates and keys (`admin.tls` and listeners). Any of them prevents the start of the daemon. */
export const certificateProblems = (config: Config): Problem[] =>
  tlsFilesOf(config).flatMap(([where, tls]) => problemsOf(() => readTlsFiles(tls, where)));

/** Returns the problems of the files of countries and networks. Any of them prevents the start of the daemon. */
export function geoFileProblems({ geo }: Config): readonly Problem[] {
  return problemsOf(() => readGeoFiles(geo));
}

/** Returns what is wrong with files of authorities of upstream proxies. Connections to such a proxy fail until the file is right. */
function authorityWarnings({ socks: { upstreams } }: Config): Problem[] {
  const problems: Problem[] = [];
  for (const [i, { proxy }] of upstreams.entries()) {
    const ca = proxy === null ? null : parseProxy(proxy)?.tls?.ca;
    const where = `socks.upstreams[${i}].proxy`;
    if (ca) readPem(where, ca, 'certificate', (pem) => new X509Certificate(pem), problems);
  }
  return problems;
}

/** Returns the problems of secret files that the daemon reads. Any of them prevents the start of the daemon. */
export function secretFileProblems({ database, socks, webhooks, agents }: Config): Problem[] {
  const files: [key: string, path: string | null][] = [
    ['database.connectionFile', database.connectionFile],
    ...socks.upstreams.map(({ passwordFile }, i): [string, string | null] => [
      `socks.upstreams[${i}].passwordFile`,
      passwordFile,
    ]),
    ...Object.entries(agents).map(([name, agent]): [string, string | null] => [
      `agents.${name}.apiKeyFile`,
      'apiKeyFile' in agent ? agent.apiKeyFile : null,
    ]),
  ];
  if (webhooks.enabled) {
    files.push(['webhooks.secretFile', webhooks.secretFile]);
    files.push(['webhooks.previousSecretFile', webhooks.previousSecretFile]);
  }
  const signatures = webhooks.enabled ? Object.entries(webhooks.agents) : [];
  return [
    ...files.flatMap(([key, path]) => problemsOf(() => readSecretFile(path, key))),
    ...signatures.flatMap(([name, { signature }]) =>
      signature ? problemsOf(() => senderSecrets(signature, `webhooks.agents.${name}.signature`)) : [],
    ),
  ];
}

/** Returns what is amiss with configured files, and does not prevent the start. */
export function fileWarnings(config: Config): Problem[] {
  const geo = geoFileProblems(config).length > 0 ? [] : geoWarnings(config, readGeoFiles(config.geo));
  return [...agentFileWarnings(config), ...authorityWarnings(config), ...geo];
}

/**
 * Returns missing folders, programs and sockets of agents (runs of such an agent fail until the file exists), and what programs
 * cannot reach, or should not.
 */
export function agentFileWarnings({ agents, dataDir }: Pick<Config, 'agents' | 'dataDir'>): Problem[] {
  return Object.entries(agents).flatMap(([name, agent]) => {
    // This machine has no files for agents of other nodes.
    if (!('nodes' in agent) || agent.nodes !== null) return [];
    if (agent.type === 'socket') return socketWarnings(agent.path, `agents.${name}.path`);
    const { cwd, command } = agent;
    const [program = ''] = command;
    const problems: Problem[] = [];
    if (cwd !== null && !isFolder(cwd))
      problems.push({ where: `agents.${name}.cwd`, text: `no such folder: ${cwd}` });
    // Other programs are searched in the daemon's PATH, which this process does not know.
    if (program.startsWith('/') && !isProgram(program))
      problems.push({ where: `agents.${name}.command[0]`, text: `not an executable file: ${program}` });
    for (const { key, text } of allowWarnings(agent, dataDir))
      problems.push({ where: `agents.${name}.${key}`, text });
    const lost = lostPaths(agent, dataDir, process.env['PATH'] ?? '');
    if (lost.length > 0) {
      const line = `allow: { read: [${lost.join(', ')}] }`;
      const text = `its program can no longer reach ${lost.join(', ')}; add ${line} (or write, or nothing: allow: {})`;
      problems.push({ where: `agents.${name}`, text });
    }
    return problems;
  });
}

function socketWarnings(path: string, where: string): Problem[] {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found)
      return [{ where, text: `no such socket: ${path}; start its unit (systemctl enable --now …socket)` }];
    if (!found.isSocket()) return [{ where, text: `not a socket: ${path}` }];
    const isOpen = (found.mode & WRITTEN_BY_OTHERS) !== 0;
    const text = `every user of this machine can send requests to ${path}; set SocketMode=0660 and SocketGroup=`;
    return isOpen ? [{ where, text }] : [];
  } catch (error) {
    return [{ where, text: `${path} cannot be read: ${(error as Error).message}` }];
  }
}

function problemsOf(read: () => unknown): readonly Problem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    if (error instanceof SecretFileError) return [{ where: error.key, text: error.fault }];
    throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const isProgram = (path: string): boolean =>
  succeeds(() => accessSync(path, constants.X_OK)) && !isFolder(path);
