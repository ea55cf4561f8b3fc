// A few seconds of everything at once; `npm run soak -- --minutes 60` is the real thing.
// Only by name: CI runs the soak itself for a minute.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { soak } from './soak.js';

it('a few seconds of everything at once break nothing and leave nothing behind', async (t) => {
  const report = await soak(t, 4);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.errors, {});
  assert.ok(report.sessions > 50 && report.bytes > 2_500_000, 'too little happened');
  assert.ok(report.descriptorsAfter <= report.descriptorsBefore + 8, 'descriptors were not given back');
  assert.ok(report.memoryMiB < 400, `${report.memoryMiB} MiB`);
});
