// /api/v1/settings/effective: the effective configuration.
import { z } from 'zod';
import { routesOf } from '../../api/route.js';
import { Bytes, Count, Time } from '../../api/schemas.js';

const EffectiveConfig = z
  .object({
    program: z.object({
      /** The running version. */
      version: z.string(),
      /** The version of the installed files; differs when they were upgraded and the daemon was not restarted. */
      installedVersion: z.string(),
      /** The commit from which the running package was built, and its time; null: not a package. */
      build: z.object({ commit: z.string(), date: Time }).nullable(),
      /** Whether the package is so old that there is probably a newer one. Nothing asks the network. */
      isOld: z.boolean(),
    }),
    configFile: z.string().nullable(),
    entries: z.array(
      z.object({
        /** The key, such as `socks.handshakeTimeout`. */
        path: z.string(),
        /** The value as written in the configuration file. Secrets never appear. */
        value: z.string(),
        source: z.enum(['default', 'file', 'environment', 'flag', 'console']),
        isSecret: z.boolean(),
      }),
    ),
    database: z.object({ client: z.string(), bytes: Bytes.nullable(), heartbeats: Count }),
    startedAt: Time,
    /** Keys whose value in file or environment has changed and takes effect only after a restart. */
    needsRestart: z.array(z.string()),
    /** The error of the present configuration, with which a restart would fail; null: none. */
    problem: z.string().nullable(),
  })
  .meta({ id: 'EffectiveConfig' });

export type Effective = z.infer<typeof EffectiveConfig>;

const { route } = routesOf('Settings');

export const effectiveRoutes = [
  route('GET /api/v1/settings/effective', 'getEffectiveConfig', 'settings:read', {
    summary: 'The configuration in force, key by key, and where each value comes from.',
    success: [200, 'The configuration.', EffectiveConfig],
    handle: async (_input, { effective }) => ({ body: await effective() }),
  }),
];
