// Invalid entries of the egress lists: each prevents the start, with an error that names the entry.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createEgressPolicy, type EgressOptions } from '../../../src/core/egress/egress.js';
import { scaled } from '../../helpers/scale.js';

const policy = (lists: Partial<Pick<EgressOptions, 'allow' | 'deny'>>) =>
  createEgressPolicy({ private: 'deny', allow: [], deny: [], isOwnListener: () => false, ...lists });

const BAD_ENTRIES = [
  ...[
    '',
    ' ',
    '*',
    ':',
    '*:',
    ':0',
    ':65536',
    ':-1',
    ':1-',
    ':-5',
    ':2-1',
    ':1-65536',
    ':a',
    ':1,2',
    ':80 ',
    ' :80',
    ':1-2-3',
    ':080808',
  ],
  ...[
    '10.0.0.0/33',
    '10.0.0/8',
    '10.1',
    '2130706433',
    '0x7f.1',
    '10.0.0.1:',
    '10.0.0.1:0',
    '10.0.0.1:x',
    '10.0.0.1/8/8',
    '10.0.0.*',
  ],
  ...[
    '[::1',
    '::1]',
    '[]',
    '[]:80',
    '[10.0.0.0/8]:5',
    '[example.com]:5',
    '[::1]80',
    '[::1]:',
    '[::/129]',
    '2001:db8::/32:443',
    '[::1]:1:2',
  ],
  ...[
    'http://example.com',
    'example.com/',
    'a b',
    '*example.com',
    '*.',
    '*.*',
    'a.*',
    '*.*.example',
    'bücher.example',
    '.example.com',
    'a..b',
    '-a',
  ],
  ...[
    'example.com:',
    'example.com:http',
    'user@example.com',
    '10.0.0.0/8,10.1.0.0/16',
    'example.com\n',
    '\0',
  ],
];
for (const entry of BAD_ENTRIES) {
  test(`the start fails with the entry ${JSON.stringify(entry)}`, () => {
    for (const list of ['allow', 'deny'] as const) {
      assert.throws(
        () => policy({ [list]: ['10.0.0.0/8', entry] }),
        (error) =>
          error instanceof TypeError &&
          error.message.includes(`egress.${list}[1]: ${JSON.stringify(entry)} is not an address`),
      );
    }
  });
}

test('any text is an entry or causes an error that names it', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[-*0-9a-f.:/[\]]{0,20}$/));
  fc.assert(
    fc.property(texts, (text) => {
      try {
        policy({ deny: [text] }).judge({ host: 'a.example', ip: Uint8Array.of(10, 0, 0, 1), port: 1 });
      } catch (error) {
        assert.match(String(error), /^TypeError: egress\.deny\[0\]: /);
      }
    }),
    { numRuns: scaled(600) },
  );
});
