import assert from 'node:assert/strict';
import { it } from 'node:test';
import { allocateOwnedDescriptors, OwnedDescriptors } from '../../../src/proxy/memory/owned-descriptors.js';

it('descriptors of a dead worker, and those being passed to it, are closed once', () => {
  const memory = allocateOwnedDescriptors(16);
  const owned = new OwnedDescriptors(memory);
  const otherWorkersView = new OwnedDescriptors(memory);
  owned.add(3);
  owned.add(4);
  owned.remove(4);
  assert.equal(otherWorkersView.tryGive(15), true);
  const closed: number[] = [];
  owned.closeAll((fd) => closed.push(fd));
  assert.deepEqual(closed, [3, 15]);
  assert.equal(otherWorkersView.tryGive(5), false, 'a dead worker accepts no descriptor');
  owned.closeAll((fd) => closed.push(fd));
  assert.deepEqual(closed, [3, 15]);
});
