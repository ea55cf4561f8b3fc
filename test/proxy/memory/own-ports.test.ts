// The daemon's own ports: a port number may be open at several addresses, and those of a dead thread are removed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { allocateOwnPorts, createOwnPorts } from '../../../src/proxy/memory/own-ports.js';

it('a listener keeps its port number when a BIND on the same number ends', () => {
  const memory = allocateOwnPorts(1);
  const [daemon, worker] = [createOwnPorts(memory, 0), createOwnPorts(memory, 1)];
  daemon.add('tcp-listener', 1080);
  worker.add('tcp-listener', 1080);
  worker.remove('tcp-listener', 1080);
  assert.ok(worker.has('tcp-listener', 1080));
  worker.add('tcp-listener', 1080);
  daemon.clear(1);
  assert.ok(worker.has('tcp-listener', 1080));
  daemon.remove('tcp-listener', 1080);
  assert.ok(!worker.has('tcp-listener', 1080));
});

it('a port that is open twice is known until both are closed', () => {
  const ports = createOwnPorts(allocateOwnPorts(1), 1);
  ports.add('tcp-listener', 5_000);
  ports.add('tcp-listener', 5_000);
  ports.remove('tcp-listener', 5_000);
  assert.equal(ports.has('tcp-listener', 5_000), true);
  ports.remove('tcp-listener', 5_000);
  assert.equal(ports.has('tcp-listener', 5_000), false);
});
