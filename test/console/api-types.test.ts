// The console's API types equal the OpenAPI document of the daemon.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleApiTypes, playerApiTypes, writtenApiTypes } from '../helpers/console-api-types.js';

test('src/console/api-types.ts matches the OpenAPI document (npm run build:api-types)', () => {
  assert.equal(writtenApiTypes().console, consoleApiTypes());
});

test('src/console/player/api-types.ts matches the schema of the player page (npm run build:api-types)', () => {
  assert.equal(writtenApiTypes().player, playerApiTypes());
});
