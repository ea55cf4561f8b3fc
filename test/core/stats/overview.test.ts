// The overview beside busy readers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import { LiveActivity } from '../../../src/core/accounts/live-activity.js';
import { QueryTooSlowError } from '../../../src/core/errors.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { createOverview } from '../../../src/core/stats/overview.js';

test('the overview does not fail because searches keep the readers busy', async () => {
  const now = Date.UTC(2031, 0, 1);
  let busy: Error = new QueryTooSlowError('busy', 'busy');
  const overview = createOverview({
    directory: new AccountDirectory(),
    sessions: new SessionRegistry(),
    activity: new LiveActivity(now),
    samples: { runs: async () => ({ queued: 1, running: 0, succeeded: 0, failed: 0 }) },
    heartbeatSums: { games: () => Promise.reject(busy) },
    now: () => now,
  });
  assert.equal((await overview()).runs.queued, 1);
  busy = new Error('the database is gone');
  const other = createOverview({
    directory: new AccountDirectory(),
    sessions: new SessionRegistry(),
    activity: new LiveActivity(now),
    samples: { runs: async () => ({ queued: 1, running: 0, succeeded: 0, failed: 0 }) },
    heartbeatSums: { games: () => Promise.reject(busy) },
    now: () => now,
  });
  await assert.rejects(other(), /gone/);
});
