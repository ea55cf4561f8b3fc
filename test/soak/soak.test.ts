// A soak of a few seconds. `npm run soak -- --minutes 60` is the long form.
// Only by name: CI runs the soak itself for a minute.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { soak } from './soak.js';

it('all features under load for a few seconds cause no error, and leave no descriptor open', async (t) => {
  const report = await soak(t, 4);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.errors, {});
  assert.ok(report.sessions > 50 && report.bytes > 2_500_000, 'there was too little load');
  assert.ok(report.descriptorsAfter <= report.descriptorsBefore + 8, 'descriptors stay open');
  assert.ok(report.memoryMiB < 400, `${report.memoryMiB} MiB`);
});
