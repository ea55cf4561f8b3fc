// The OpenAPI document is complete: it contains all that it refers to, and names are unique.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../../../src/http/v1/routes.js';
import { openApi } from '../../helpers/openapi.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}
const document = openApi() as unknown as Document;
const text = JSON.stringify(document);

test('the document contains every route and no other', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.equal(document.openapi, '3.1.1');
  assert.deepEqual(described.sort(), routes.map((route) => `${route.method} ${route.path}`).sort());
});

test('every reference names a schema, and no schema refers only to itself', () => {
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  assert.ok(names.length > 100);
  for (const name of names) assert.ok(document.components.schemas[name], name);
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.notEqual(schema['$ref'], `#/components/schemas/${name}`);
    assert.ok(Object.keys(schema).length > 0, name);
  }
  assert.doesNotMatch(text, /\$defs|"\$schema"/);
});

test('operations have unique names, a summary, and responses for success and failure', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
  for (const { operationId, summary, responses } of operations) {
    assert.ok(summary.length > 5, operationId);
    const statuses = Object.keys(responses).map(Number);
    assert.ok(
      statuses.some((status) => status < 300) && statuses.some((status) => status >= 400),
      operationId,
    );
  }
});

test('parameters in paths are described and required', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    for (const { operationId, parameters = [] } of Object.values(methods)) {
      const described = parameters.filter((one) => one.in === 'path').map((one) => one.name);
      assert.deepEqual(described.sort(), inPath, operationId);
    }
  }
});

test('what creates something or changes accounts takes an idempotency key, and nothing else', () => {
  const keyed = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'Idempotency-Key'));
  assert.deepEqual(keyed.map(({ operationId }) => operationId).sort(), [
    'addEventReceiver',
    'addExit',
    'changeAccount',
    'changeAccountLimits',
    'changeAccounts',
    'changeEventReceiver',
    'confirmContact',
    'createAccount',
    'createAccounts',
    'createOperator',
    'createSubscription',
    'createToken',
    'getCredentials',
    'handOver',
    'importAccounts',
    'renewRecoveryCodes',
    'rerunRun',
    'resetAccountUsage',
    'resetPassword',
    'sendContactCode',
    'sendMessage',
  ]);
  for (const { operationId, responses } of keyed) {
    for (const status of ['409', '422', '429']) assert.ok(responses[status], `${operationId} ${status}`);
  }
});
