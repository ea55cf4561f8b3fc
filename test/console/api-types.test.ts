// The types the console is written against are those of the document the daemon serves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleApiTypes, playerApiTypes, writtenApiTypes } from '../helpers/console-api-types.js';

test('src/console/api-types.ts is what the OpenAPI document says (npm run build:api-types)', () => {
  assert.equal(writtenApiTypes().console, consoleApiTypes());
});

test('src/console/player/api-types.ts is what the schema of the page says (npm run build:api-types)', () => {
  assert.equal(writtenApiTypes().player, playerApiTypes());
});
