// A backup for download that the audit log cannot record.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { HandlerInput, RouteRequest } from '../../../src/http/api/route.js';
import type { Caller } from '../../../src/http/caller.js';
import type { Services } from '../../../src/http/services.js';
import { backupRoutes } from '../../../src/http/v1/settings/data.js';

test('a backup is closed when its download cannot be recorded', async () => {
  const file = Readable.from(['the database']);
  const full = new Error('database or disk is full');
  const [route] = backupRoutes;
  assert.ok(route);
  const caller = { name: 'admin', via: 'basic', address: '::1', operator: null } as Caller;
  const answered = route.handle(
    { caller } as HandlerInput<RouteRequest>,
    {
      backup: async () => file,
      audit: { add: async () => Promise.reject(full) },
      now: Date.now,
    } as unknown as Services,
  );
  await assert.rejects(answered, full);
  assert.ok(file.destroyed);
});
