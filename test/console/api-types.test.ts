// The types the console is written against are those of the document the daemon serves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleApiTypes, writtenConsoleApiTypes } from '../helpers/console-api-types.js';

test('src/console/api-types.ts is what the OpenAPI document says (npm run build:api-types)', () => {
  assert.equal(writtenConsoleApiTypes(), consoleApiTypes());
});
