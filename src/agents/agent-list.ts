// Creates the configured agents: the backend and the delivery channel of each.
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Agent, Channel } from '../core/agents/runs.js';
import { createTurns } from '../core/time/turns.js';
import { createHttpAgent, createOpenAiAgent } from './backends/http.js';
import { createSocketAgent } from './backends/socket.js';
import { createHttpChannel } from './channels/http.js';
import { createFileChannel, createLogChannel } from './channels/local.js';
import type { CommandSettings } from './confinement/access.js';
import { accessOf, agentFolder, commandFrom, limited, temporaryFolder } from './confinement/access.js';
import { createConfinedAgent } from './confinement/confined-agent.js';
import type {
  AgentGatewayDeps,
  AgentSettings,
  BuiltAgent,
  ChannelSettings,
  DeliverySchedule,
} from './context.js';
import { type KeyFile, openKeyFile } from './secrets.js';

/** Time between SIGTERM and SIGKILL, in ms. */
const KILL_AFTER_MS = 5000;
/** Delivery attempts for the file and log channels. */
const LOCAL_TRIES = 10;
const LOCAL_BACKOFF_MS = 1000;

/**
 * @param deps.dataDir base folder for relative paths of `file` channels
 * @throws StartError `secret-file`
 */
export function buildAgents(deps: Pick<AgentGatewayDeps, 'agents' | 'dataDir' | 'now' | 'log'>) {
  const { now } = deps;
  const groups = new Set<number>();
  const keyFiles: KeyFile[] = [];
  const inTurn = createTurns();

  const keyOf = (path: string | null, name: string) => {
    const file = openKeyFile(path, `agents.${name}.apiKeyFile`);
    keyFiles.push(file);
    return file.read;
  };

  function agentOf(name: string, settings: AgentSettings): Agent {
    switch (settings.type) {
      case 'command':
        return commandAgent(name, settings);
      case 'socket':
        return createSocketAgent(settings);
      case 'http':
        return createHttpAgent({ ...settings, apiKey: keyOf(settings.apiKeyFile, name), now });
      case 'openai':
        return createOpenAiAgent({ ...settings, apiKey: keyOf(settings.apiKeyFile, name), now });
    }
  }

  function commandAgent(name: string, settings: CommandSettings): Agent {
    const { cwd, maxReplyBytes, timeoutMs, limits } = settings;
    const command = commandFrom(settings);
    const folder = agentFolder(deps.dataDir, name);
    const inputFolder = temporaryFolder(folder);
    const own = { HOME: folder, TMPDIR: inputFolder };
    const env: Record<string, string> = { ...inheritedEnvironment(), ...own, ...revealed(settings.env) };
    const cpuMs = limits.cpuMs ?? timeoutMs * availableParallelism();
    const start = {
      access: accessOf({ ...settings, command }, folder, env['PATH'] ?? ''),
      options: {
        command: limited(command, { ...limits, cpuSeconds: Math.ceil(cpuMs / 1000) }),
        cwd: cwd ?? folder,
        inputFolder,
        env,
        maxReplyBytes,
        killAfterMs: KILL_AFTER_MS,
      },
    };
    return createConfinedAgent(start, groups);
  }

  function scheduleOf(settings: ChannelSettings): DeliverySchedule | null {
    if (settings.type === 'none') return null;
    if (settings.type === 'http') {
      const { url, timeoutMs, maxTries, backoffMs } = settings;
      const channel = createHttpChannel({ url, secret: settings.secret?.reveal() ?? null, timeoutMs, now });
      return { channel, maxTries, backoffMs };
    }
    return { channel: localChannel(settings), maxTries: LOCAL_TRIES, backoffMs: LOCAL_BACKOFF_MS };
  }

  function localChannel(settings: Extract<ChannelSettings, { type: 'log' | 'file' }>): Channel {
    if (settings.type === 'log') return createLogChannel(deps.log);
    return createFileChannel(resolve(deps.dataDir, settings.path), inTurn);
  }

  const byName: ReadonlyMap<string, BuiltAgent> = new Map(
    Object.entries(deps.agents).map(([name, settings]) => [
      name,
      { settings, agent: agentOf(name, settings), schedule: scheduleOf(settings.channel) },
    ]),
  );
  return {
    byName,
    /** Process groups of the running commands. */
    groups,
    /** Reads the key files again, and returns a function that puts their keys into use. @throws StartError `secret-file` */
    prepareKeys(): () => void {
      const reloads = keyFiles.map((file) => file.prepareReload());
      return () => {
        for (const reload of reloads) reload();
      };
    },
  };
}

/** Returns the variables that commands inherit from the daemon's environment. */
function inheritedEnvironment(): Record<string, string> {
  const names = ['PATH', 'LANG', 'TZ'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const revealed = (env: CommandSettings['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.reveal()]));
