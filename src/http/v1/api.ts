// Assembles /api/v1: the routes and the dependencies of their handlers.
import type Router from '@koa/router';
import type { PacListeners } from '../../core/accounts/player/pac.js';
import type { ApiTokens } from '../../core/auth/api-tokens.js';
import { refuseRoute, serveRoutes } from '../api/serve.js';
import { createBodyReader, type ReadJsonObject } from '../body.js';
import { accountsFor } from '../caller.js';
import type { AdminState } from '../state.js';
import type { ApiDocument } from './document.js';
import { documentPage } from './document-page.js';
import { createEventStreams, type EventStreamOptions, type EventStreams } from './events.js';
import { buildOpenApi } from './openapi.js';
import { restrictedDeps } from './restricted.js';
import { type RouteDeps, routes } from './routes.js';

type MadeHere =
  | 'accountsOf'
  | 'document'
  | 'events'
  | 'importing'
  | 'onSettingChanged'
  | 'operationsOf'
  | 'socks';

export interface ApiDeps
  extends Omit<RouteDeps, MadeHere>,
    Pick<EventStreamOptions, 'changes' | 'maxEventStreams'> {
  readonly apiTokens: ApiTokens;
  readonly pacListeners: PacListeners;
  /** Most authorized addresses of one account, for the player page. */
  readonly maxAuthorizedAddresses: number;
  /** Of the schedules of accounts, for the player page. */
  readonly timeZone: string;
  /** Size of the largest body of a request about many accounts. */
  readonly maxBulkBodyBytes: number;
  readonly readJsonObject: ReadJsonObject;
}

/** Returns the event streams, which never end by themselves. */
export function serveApi(router: Router<AdminState>, deps: ApiDeps): EventStreams {
  const { accounts, changes, readJsonObject, refuseNow } = deps;
  const events = createEventStreams({ ...deps, mayStillWatch: (caller) => refuseNow(caller) === null });
  const all: RouteDeps = {
    ...deps,
    accountsOf: (caller) => accountsFor(accounts, caller),
    document: createDocument(),
    events,
    importing: new Set(),
    onSettingChanged() {
      changes.notify('settings');
      changes.notify('audit');
    },
    operationsOf: (caller) =>
      routes.filter((route) => refuseRoute(caller, route) === null).map(({ operationId }) => operationId),
    socks: () => deps.about().socks,
  };
  serveRoutes(router, routes, (caller) => (caller?.operator ? restrictedDeps(all, caller.operator) : all), {
    unknownFields: 'refused',
    readJsonObject,
    refuseNow,
    isConfirmed: async ({ via, key }) => via !== 'console' || deps.consoleSessions.isConfirmed(key ?? ''),
    readBulkJsonObject: createBodyReader(deps.maxBulkBodyBytes),
  });
  return events;
}

function createDocument(): () => ApiDocument {
  let made: ApiDocument | undefined;
  return () => {
    if (made) return made;
    const document = buildOpenApi();
    made = { json: JSON.stringify(document), page: documentPage(document) };
    return made;
  };
}
