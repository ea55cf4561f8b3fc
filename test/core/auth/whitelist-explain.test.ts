// The description of a whitelist entry on the settings page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWhitelist } from '../../../src/core/auth/whitelist.js';
import { explainWhitelist } from '../../../src/http/v1/settings/whitelist.js';

test('the description of a whitelist entry matches the addresses that it contains', () => {
  for (const entry of [
    '10.0.0.0/8',
    '10.1.2.3/32',
    '0.0.0.0/0',
    '192.168.*',
    '10.2*',
    '2001:db8::/29',
    'fe80::*',
  ]) {
    const [{ first, last } = { first: null, last: null }] = explainWhitelist(entry);
    const parsed = parseWhitelist(entry);
    assert.ok(parsed.ok && first !== null && last !== null, entry);
    for (const edge of [first, last]) assert.ok(parsed.whitelist.allows(edge), `${entry}: ${edge}`);
  }
});
