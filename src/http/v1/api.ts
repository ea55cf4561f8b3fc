// Serves the routes of /api/v1, each with the services that its caller may use.
import type Router from '@koa/router';
import { serveRoutes } from '../api/serve.js';
import { createBodyReader, type ReadJsonObject } from '../body.js';
import type { Services } from '../services.js';
import type { AdminState } from '../state.js';
import { restrictedTo } from './restricted.js';
import { routes } from './routes.js';

/** @param maxBulkBodyBytes size of the largest body of a request about many accounts */
export function serveApi(
  router: Router<AdminState>,
  services: Services,
  { readJsonObject, maxBulkBodyBytes }: { readJsonObject: ReadJsonObject; maxBulkBodyBytes: number },
): void {
  serveRoutes(router, routes, (caller) => restrictedTo(caller, services), {
    unknownFields: 'refused',
    readJsonObject,
    refuseNow: services.refuseNow,
    isConfirmed: async ({ via, key }) => via !== 'console' || services.consoleSessions.isConfirmed(key ?? ''),
    readBulkJsonObject: createBodyReader(maxBulkBodyBytes),
  });
}
