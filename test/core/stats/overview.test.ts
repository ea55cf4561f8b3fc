// The overview while the readers of the database are busy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import { Calendar } from '../../../src/core/accounts/usage/calendar.js';
import { LiveActivity } from '../../../src/core/accounts/usage/live-activity.js';
import { QueryTooSlowError } from '../../../src/core/errors.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { createOverview } from '../../../src/core/stats/overview.js';

test('the overview works while searches keep the readers busy, and fails for other errors', async () => {
  const now = Date.UTC(2031, 0, 1);
  const overviewWith = (error: Error) =>
    createOverview({
      directory: new AccountDirectory(),
      sessions: new SessionRegistry(),
      activity: new LiveActivity(now, new Calendar()),
      samples: { runs: async () => ({ queued: 1, running: 0, succeeded: 0, failed: 0 }) },
      heartbeatSums: { games: () => Promise.reject(error) },
      calendar: new Calendar(),
      now: () => now,
    });
  assert.equal((await overviewWith(new QueryTooSlowError('busy', 'busy'))()).runs.queued, 1);
  await assert.rejects(overviewWith(new Error('disk full'))(), /disk full/);
});
