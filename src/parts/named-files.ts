// Checks the files that the configuration names, for `config check` and `doctor`. The daemon checks the same at its start.
import { accessSync, constants, statSync } from 'node:fs';
import { readSecretFile, SecretFileError, senderSecrets } from '../agents/secrets.js';
import { type Config, ConfigError, type Problem, readTlsFiles } from '../config.js';

/** What is wrong with certificates and keys (`admin.tls` and listeners): the daemon does not start with them. */
export function certificateProblems({ admin, socks }: Config): Problem[] {
  return [
    ...problemsOf(() => readTlsFiles(admin.tls)),
    ...socks.listeners.flatMap(({ tls }, i) =>
      tls === undefined ? [] : problemsOf(() => readTlsFiles(tls, `socks.listeners[${i}].tls`)),
    ),
  ];
}

/** What is wrong with the files of secrets that the daemon reads: it does not start with them. */
export function secretFileProblems({ database, socks, webhooks, agents }: Config): Problem[] {
  const files: [key: string, path: string | null][] = [
    ['database.connectionFile', database.connectionFile],
    ...socks.upstreams.map(({ passwordFile }, i): [string, string | null] => [
      `socks.upstreams[${i}].passwordFile`,
      passwordFile,
    ]),
    ...Object.entries(agents).map(([name, agent]): [string, string | null] => [
      `agents.${name}.apiKeyFile`,
      agent.type === 'command' ? null : agent.apiKeyFile,
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

/** Folders and programs of agents that are not there: their runs fail until they are. */
export function agentFileWarnings({ agents }: Config): Problem[] {
  return Object.entries(agents).flatMap(([name, agent]) => {
    // Of agents for other nodes, this machine has no files.
    if (agent.type !== 'command' || agent.nodes !== null) return [];
    const { cwd, command } = agent;
    const [program = ''] = command;
    const problems: Problem[] = [];
    if (cwd !== null && !isFolder(cwd))
      problems.push({ where: `agents.${name}.cwd`, text: `there is no folder ${cwd}` });
    // Others are looked for in PATH, which is that of the daemon.
    if (program.startsWith('/') && !isProgram(program))
      problems.push({ where: `agents.${name}.command[0]`, text: `${program} is no executable file` });
    return problems;
  });
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return !isFolder(path);
  } catch {
    return false;
  }
}
