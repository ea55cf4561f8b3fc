// /api/v1/openapi.json and /api/v1/docs: the description of this API, for programs and for people.
import { routesOf } from '../api/route.js';
import { STYLE_HASH } from './document-page.js';

const { route } = routesOf('Document');

export const documentRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/openapi.json',
      operationId: 'getOpenApi',
      summary: 'This document.',
      access: 'any',
      request: {},
      responses: { 200: { description: 'OpenAPI 3.1.', contentType: 'application/json' } },
    },
    async (_input, { document }) => ({
      status: 200,
      body: Buffer.from(document().json),
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    }),
  ),
  route(
    {
      method: 'GET',
      path: '/api/v1/docs',
      operationId: 'getDocs',
      summary: 'This document as a web page.',
      access: 'any',
      request: {},
      responses: { 200: { description: 'A page.', contentType: 'text/html' } },
    },
    async (_input, { document }) => ({
      status: 200,
      body: Buffer.from(document().page),
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        'Referrer-Policy': 'no-referrer',
        'X-Frame-Options': 'DENY',
      },
    }),
  ),
];
