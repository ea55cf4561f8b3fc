// /api/v1/settings/effective: the configuration in force.
import { z } from 'zod';
import { routesOf } from '../route.js';
import { Bytes, Count, Time } from '../schemas.js';

const EffectiveConfig = z
  .object({
    configFile: z.string().nullable(),
    entries: z.array(
      z.object({
        /** `socks.handshakeTimeout`. */
        path: z.string(),
        /** As one would write it in the file; secrets are never here. */
        value: z.string(),
        source: z.enum(['default', 'file', 'environment', 'flag', 'console']),
        isSecret: z.boolean(),
      }),
    ),
    database: z.object({ client: z.string(), bytes: Bytes.nullable(), heartbeats: Count }),
    startedAt: Time,
    /** Keys that file and environment have another value for by now, and that only a restart takes over. */
    needsRestart: z.array(z.string()),
    /** What is wrong with the configuration as it stands by now: with it a restart would fail. */
    problem: z.string().nullable(),
  })
  .meta({ id: 'EffectiveConfig' });

export type Effective = z.infer<typeof EffectiveConfig>;

const { route } = routesOf<{ readonly effective: () => Promise<Effective> }>('Settings');

export const effectiveRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/settings/effective',
      operationId: 'getEffectiveConfig',
      summary: 'The configuration in force, key by key, and where each value comes from.',
      access: 'settings:read',
      request: {},
      responses: { 200: { description: 'The configuration.', schema: EffectiveConfig } },
    },
    async (_asked, { effective }) => ({ status: 200, body: await effective() }),
  ),
];
