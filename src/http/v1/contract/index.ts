// The whole of /api/v1: every route, in the order of the document.
import { accountRoutes } from './accounts.js';
import { manyAccountRoutes } from './accounts-many.js';
import { activityRoutes } from './activity.js';
import { agentRoutes } from './agents.js';
import { auditRoutes } from './audit.js';
import { type Route, route } from './common.js';
import { limitRoutes } from './limits.js';
import { overviewRoutes } from './overview.js';
import { sessionRoutes } from './session.js';
import { settingsRoutes } from './settings.js';
import { transferRoutes } from './transfer.js';

export const documentRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This document.',
    tag: 'Document',
    access: 'any',
    request: {},
    responses: { 200: { description: 'OpenAPI 3.1.', contentType: 'application/json' } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/docs',
    operationId: 'getDocs',
    summary: 'The same as a page to read.',
    tag: 'Document',
    access: 'any',
    request: {},
    responses: { 200: { description: 'A page.', contentType: 'text/html' } },
  }),
];

/**
 * Every route of /api/v1. Fixed paths (`accounts/export`) stand before those with a parameter
 * (`accounts/{id}`), so that registering them in this order is right.
 */
export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...overviewRoutes,
  ...transferRoutes,
  ...manyAccountRoutes,
  ...accountRoutes,
  ...limitRoutes,
  ...activityRoutes,
  ...agentRoutes,
  ...settingsRoutes,
  ...auditRoutes,
  ...documentRoutes,
];
