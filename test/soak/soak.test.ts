// Twenty seconds of everything at once; `npm run soak -- --minutes 60` is the real thing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { soak } from './soak.js';

it('twenty seconds of everything at once break nothing and leave nothing behind', async (t) => {
  const report = await soak(t, 20);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.errors, {});
  assert.ok(report.sessions > 200 && report.bytes > 10_000_000, 'too little happened');
  assert.ok(report.descriptorsAfter <= report.descriptorsBefore + 8, 'descriptors were not given back');
  assert.ok(report.memoryMiB < 400, `${report.memoryMiB} MiB`);
});
