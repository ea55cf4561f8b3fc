// The OpenAPI 3.1 document, made from the schemas that check the requests and describe the responses.
import { z } from 'zod';
import { IDEMPOTENCY_KEY as IDEMPOTENCY_KEY_PATTERN } from '../../core/agents/webhooks.js';
import { Problem } from '../api/problem.js';
import { type Access, type RouteDescription, type RouteRequest, takesKey } from '../api/route.js';
import { documentPage } from './document.js';
import { routes } from './routes.js';

type Json = Record<string, unknown>;

/**
 * Returns the OpenAPI 3.1.1 document of /api/v1 as a plain object for JSON. Each call makes an equal object and takes some
 * milliseconds.
 */
export function buildOpenApi(): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method.toLowerCase()] = operation(route, components);
    paths[route.path] = item;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pulsegate',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Accounts, live sessions, heartbeats, agents and settings of one Pulsegate daemon. Every error is application/problem+json (RFC 9457). Times are UTC.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description:
            'User name and password of the administrator, or of an operator without a second factor.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'pulsegate_session',
          description: 'The session cookie of the console.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API token with the scope of the operation.',
        },
      },
    },
  };
}

let kept: { readonly json: string; readonly page: string } | undefined;

/** Returns the document as JSON and as a web page, made at the first call and kept. */
export function apiDocument(): NonNullable<typeof kept> {
  if (kept) return kept;
  const document = buildOpenApi();
  kept = { json: JSON.stringify(document), page: documentPage(document) };
  return kept;
}

function operation(route: RouteDescription, components: Json): Json {
  const { request } = route;
  const [status, description, body] = route.success;
  const { schema, contentType } =
    body && 'contentType' in body ? body : { schema: body, contentType: body && 'application/json' };
  const content = contentType && {
    [contentType]: schema ? { schema: toSchema(schema, 'output', components) } : {},
  };
  const responses: Json = {
    [status]: {
      description,
      ...(route.etag ? { headers: { ETag: { schema: { type: 'string' } } } } : {}),
      ...(content ? { content } : {}),
    },
  };
  for (const status of problemsOf(route)) {
    responses[status] = {
      description: STATUS_TEXT[status] ?? 'Failed.',
      content: { 'application/problem+json': { schema: toSchema(Problem, 'output', components) } },
    };
  }
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...descriptionOf(route),
    tags: [route.tag],
    security: security(route.access),
    ...parametersOf(route, components),
    ...bodyOf(request, components),
    responses,
  };
}

function descriptionOf({ access, needsConfirmation }: RouteDescription): { description?: string } {
  const parts = [
    access === 'administrator' ? ['Only the administrator may do this.'] : [],
    needsConfirmation === undefined ? [] : [typeof needsConfirmation === 'function' ? MAY_NEED : NEEDS],
  ].flat();
  return parts.length === 0 ? {} : { description: parts.join(' ') };
}

const NEEDS =
  'A console session needs a recent confirmation (`POST /api/v1/session/confirm`), else 403 `confirmation-required`.';
const MAY_NEED = `Depending on the fields: ${NEEDS}`;

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'The request does not match this description.',
  401: 'Not signed in.',
  403: 'The client address is not whitelisted, the token or the role lacks the scope, another site sent the request, or the session needs a confirmation; `code` says which.',
  404: 'There is no such object.',
  409: 'The change conflicts with the current state; `code` says how.',
  412: 'The object was changed in the meantime: read it again.',
  413: 'Too large.',
  415: 'The content type is not supported.',
  422: 'The idempotency key was used with another request.',
  429: 'Too many; see Retry-After.',
  500: 'The daemon failed; its log says why.',
};

/** Returns every failure status that the route may answer. */
function problemsOf(route: RouteDescription): number[] {
  const always = route.access === 'public' ? [400, 403, 500] : [400, 401, 403, 500];
  const { body, params } = route.request;
  const own = [
    ...(params ? [404] : []),
    ...(checksVersion(route) ? [412] : []),
    ...(body ? [413, 415] : []),
    ...(takesKey(route) ? [409, 422, 429] : []),
  ];
  return [...new Set([...always, ...own, ...(route.problems ?? [])])].sort((a, b) => a - b);
}

const checksVersion = ({ etag, method }: RouteDescription): boolean => etag === true && method !== 'GET';

function security(access: Access): Json[] {
  if (access === 'public') return [];
  const operator = [{ basic: [] }, { session: [] }];
  if (access === 'person' || access === 'administrator') return operator;
  return [...operator, { token: access === 'any' ? [] : [access] }];
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeated request safe: within 24 hours it gets the first answer, with `Idempotency-Replayed: true`, and changes nothing. Of your own choice, a new random one for each request.',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN.source },
};

function parametersOf(route: RouteDescription, components: Json): { parameters?: Json[] } {
  const { params, query } = route.request;
  const parameters = [
    ...describe(params, 'path', components),
    ...describe(query, 'query', components),
    ...(checksVersion(route)
      ? [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }]
      : []),
    ...(takesKey(route) ? [IDEMPOTENCY_KEY] : []),
  ];
  return parameters.length > 0 ? { parameters } : {};
}

function describe(shape: z.ZodObject | undefined, where: 'path' | 'query', components: Json): Json[] {
  return Object.entries(shape?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: where,
    required: where === 'path',
    schema: toSchema(schema as z.ZodType, 'output', components),
  }));
}

function bodyOf(request: RouteRequest, components: Json): Json {
  if (request.raw) {
    const content = request.raw.map((type) => [type, {}]);
    return { requestBody: { required: true, content: Object.fromEntries(content) } };
  }
  if (!request.body) return {};
  const schema = toSchema(request.body, 'input', components);
  return { requestBody: { required: true, content: { 'application/json': { schema } } } };
}

/** Returns the JSON Schema 2020-12 of a schema. Parts with an `id` become components, which the schema refers to by name. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...top
  } = z.toJSONSchema(schema, { io, override: io === 'input' ? tidyInput : tidy }) as Json & { $defs?: Json };
  for (const [name, part] of Object.entries($defs)) components[name] = withReferences(part as Json);
  const id = schema.meta()?.id;
  // The parts already include a schema with an id that another schema uses.
  if (id === undefined || '$ref' in top) return withReferences(top);
  components[id] = withReferences(top);
  return { $ref: `#/components/schemas/${id}` };
}

/** Removes Zod's date patterns and the bounds of JavaScript's integers, which do not help a reader. */
function tidy(context: { jsonSchema: { [key: string]: unknown } }): void {
  const { jsonSchema } = context;
  if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
}

/** Unknown fields are refused (serve.ts), which Zod's own form of an input does not say. */
function tidyInput(context: { jsonSchema: { [key: string]: unknown } }): void {
  tidy(context);
  const { jsonSchema } = context;
  if (jsonSchema['properties'] !== undefined) jsonSchema['additionalProperties'] ??= false;
}

function withReferences(schema: Json): Json {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
}
