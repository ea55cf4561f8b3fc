// /api/v1/openapi.json and /api/v1/docs: the description of this API, for programs and for people.
import { createHash } from 'node:crypto';
import { routesOf } from '../api/route.js';

const { route } = routesOf('Document');

export const documentRoutes = [
  route('GET /api/v1/openapi.json', 'getOpenApi', 'any', {
    summary: 'This document.',
    success: [200, 'OpenAPI 3.1.', { contentType: 'application/json' }],
    handle: async (_input, { document }) => ({
      body: Buffer.from(document().json),
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    }),
  }),
  route('GET /api/v1/docs', 'getDocs', 'any', {
    summary: 'This document as a web page.',
    success: [200, 'A page.', { contentType: 'text/html' }],
    handle: async (_input, { document }) => ({
      body: Buffer.from(document().page),
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        'Referrer-Policy': 'no-referrer',
        'X-Frame-Options': 'DENY',
      },
    }),
  }),
];

type Json = Record<string, unknown>;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
summary { cursor: pointer; padding: .4rem 0; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow: auto; padding: .5rem; border: 1px solid #8886; border-radius: 4px; }
details { border-bottom: 1px solid #8884; }
b.method { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top; }
`;
/** For the Content-Security-Policy of the page. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

export function documentPage(document: Json): string {
  const paths = document['paths'] as Record<string, Record<string, Json>>;
  const tags = (document['tags'] as { name: string }[]).map(({ name }) => name);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const { title, description } = document['info'] as { title: string; description: string };
  const { schemas } = document['components'] as { schemas: Record<string, Json> };
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} /api/v1</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)} /api/v1</h1>
<p>${escapeHtml(description)} The same for programs: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
${tags
  .map(
    (tag) =>
      `<h2>${escapeHtml(tag)}</h2>${operations
        .filter(({ operation }) => (operation['tags'] as string[]).includes(tag))
        .map(operationHtml)
        .join('')}`,
  )
  .join('')}
<h2>Schemas</h2>
${Object.entries(schemas)
  .map(
    ([name, schema]) =>
      `<details id="${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${code(schema)}</details>`,
  )
  .join('')}
</body></html>
`;
}

type Operation = Readonly<Record<'path' | 'method', string>> & { readonly operation: Json };

function operationHtml({ path, method, operation }: Operation): string {
  const parameters = (operation['parameters'] ?? []) as Json[];
  const rows = parameters.map(
    ({ name, in: where, schema }) =>
      `<tr><td><code>${escapeHtml(String(name))}</code></td><td>${escapeHtml(String(where))}</td><td><code>${escapeHtml(JSON.stringify(schema))}</code></td></tr>`,
  );
  const responses = Object.entries(operation['responses'] as Record<string, Json>).map(
    ([status, { description, content }]) =>
      `<tr><td>${status}</td><td>${escapeHtml(String(description))}</td><td><code>${escapeHtml(refsOf(content))}</code></td></tr>`,
  );
  const body = operation['requestBody'] as Json | undefined;
  return `<details id="${escapeHtml(String(operation['operationId']))}"><summary><b class="method">${method.toUpperCase()}</b>
<code>${escapeHtml(path)}</code> ${escapeHtml(String(operation['summary']))}</summary>
<p>Access: ${escapeHtml(accessOf(operation))}</p>
${rows.length > 0 ? `<table><tr><th>Parameter</th><th>In</th><th>Schema</th></tr>${rows.join('')}</table>` : ''}
${body ? `<p>Body</p>${code(body['content'])}` : ''}
<table><tr><th>Status</th><th>Meaning</th><th>Body</th></tr>${responses.join('')}</table></details>`;
}

function accessOf({ security, description }: Json): string {
  const ways = security as Json[];
  if (ways.length === 0) return 'every whitelisted address';
  const [scopes] = ways.flatMap((each) => (each['token'] ? [each['token'] as string[]] : []));
  if (!scopes)
    return description
      ? 'the administrator, with a password or the console'
      : 'a person, with a password or the console';
  return scopes.length === 0 ? 'every signed-in caller' : `the scope ${scopes.join(', ')}`;
}

/** Returns the names of the schemas in a content. */
function refsOf(content: unknown): string {
  const text = JSON.stringify(content ?? {});
  return [
    ...new Set(text.match(/(?<=#\/components\/schemas\/)\w+/g) ?? Object.keys((content ?? {}) as Json)),
  ].join(', ');
}

const code = (value: unknown): string => `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
