// Lost nodes, certificates that expire soon and ended trouble with the database are announced.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Config } from '../../../src/config.js';
import type { StorageFault } from '../../../src/core/errors.js';
import type { FleetNode } from '../../../src/core/nodes/nodes.js';
import { createStoragePart } from '../../../src/parts/database/database.js';
import { createStateAlerts } from '../../../src/parts/notices/state-alerts.js';
import type { DaemonStore } from '../../../src/store/store.js';
import { makeCertificate } from '../../helpers/certificate.js';
import { eventually } from '../../helpers/eventually.js';
import { needs } from '../../helpers/programs.js';

const NOW = Date.now();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function alertsOf(nodes: readonly Partial<FleetNode>[], tls: unknown[] = [], now = () => NOW) {
  const admin = { tls: { cert: null, key: null } };
  return createStateAlerts({
    config: { admin, socks: { listeners: tls.map((pair) => ({ tls: pair })) } } as unknown as Config,
    nodes: { list: async () => nodes as FleetNode[] },
    nodeName: 'gate-1',
    endedTroubles: () => [],
    now,
  });
}

it('a node that is lost is announced by its last renewal, unless that was long ago', async () => {
  const found = await alertsOf([
    { name: 'gate-1', state: 'serving', renewedAt: NOW },
    { name: 'gate-2', state: 'lost', renewedAt: NOW - HOUR_MS },
    { name: 'gate-3', state: 'stopped', renewedAt: NOW - HOUR_MS },
    { name: 'gate-4', state: 'lost', renewedAt: NOW - 2 * DAY_MS },
  ])();
  assert.deepEqual(
    found.map(({ type, object, event, at }) => [type, object, event, at]),
    [['node.lost', 'gate-2', String(NOW - HOUR_MS), NOW - HOUR_MS]],
  );
});

it(
  'a certificate is announced from 14 days before its end, until another file is there',
  needs('openssl'),
  async (t) => {
    let now = NOW;
    const { certFile: cert, keyFile: key } = makeCertificate(t, { days: 15 });
    const alerts = alertsOf([], [undefined, { cert, key }], () => now);
    assert.deepEqual(await alerts(), []);
    now += DAY_MS + HOUR_MS;
    const [found] = await alerts();
    assert.deepEqual(
      [found?.type, found?.object, found?.at],
      ['certificate.expiring', 'socks.listeners[1].tls gate-1', now],
    );
  },
);

it('ended trouble with the database is announced again, in case the first announcement could not be written', async (t) => {
  let fault: StorageFault | null = { problem: 'database-away', error: new Error('away') };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const config = { database: { checkIntervalMs: 5 } } as Config;
  const storage = createStoragePart(config, { check: async () => fault } as unknown as DaemonStore, log);
  t.after(() => storage.stop?.());
  await storage.start?.();
  await eventually(async () => assert.equal(await storage.problem(), 'database-away'));
  assert.deepEqual(storage.endedTroubles(), []);
  fault = null;
  await eventually(async () => assert.equal(await storage.problem(), null));
  const [first] = storage.endedTroubles();
  assert.equal(first?.problem, 'database-away');
  assert.deepEqual(storage.endedTroubles(), [first]);
});
