// The limits of event streams: no operator can use up the streams of others or of the administrator.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createChangeSignal } from '../../../src/core/stats/change-signal.js';
import { nodeTimers } from '../../../src/core/time/timers.js';
import type { Caller } from '../../../src/http/caller.js';
import { createEventStreams, MAX_STREAMS_PER_OPERATOR } from '../../../src/http/v1/overview.js';

const BASE = { via: 'basic', name: 'x', scopes: null, address: '127.0.0.1', key: null } as const;
const ADMINISTRATOR: Caller = { ...BASE, operator: null };
const operator = (id: string): Caller => ({ ...BASE, operator: { id, name: id, role: 'viewer' } });

test('streams are limited per operator, for all operators, and separately for the administrator', async (t) => {
  const streams = createEventStreams({
    overview: () => Promise.reject(new Error('none')),
    changes: createChangeSignal(0, nodeTimers),
    maxEventStreams: MAX_STREAMS_PER_OPERATOR + 2,
    mayStillWatch: () => true,
  });
  const open = (caller: Caller) => {
    const stream = streams.open(caller);
    if (stream) t.after(() => stream.destroy());
    return stream;
  };
  const fill = (caller: Caller) => {
    let count = 0;
    while (open(caller)) count += 1;
    return count;
  };
  const first = open(operator('one'));
  assert.equal(1 + fill(operator('one')), MAX_STREAMS_PER_OPERATOR);
  assert.equal(fill(operator('two')), 2, 'the rest of the limit of all operators');
  assert.equal(fill(operator('three')), 0);
  assert.equal(fill(ADMINISTRATOR), MAX_STREAMS_PER_OPERATOR + 2);
  first?.destroy();
  if (first) await once(first, 'close');
  assert.equal(fill(operator('three')), 1, 'a closed stream counts no longer');
});
