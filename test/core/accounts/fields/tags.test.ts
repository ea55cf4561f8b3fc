// Tags: valid tags, texts of tags, and changes of the tags of an account.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areValidTags,
  changedTags,
  isValidTag,
  MAX_TAG_CHARS,
  MAX_TAGS,
  tagsOfText,
  textOfTags,
  uniqueTags,
} from '../../../../src/core/accounts/fields/contacts.js';

test('a tag is a short text without separators', () => {
  for (const tag of ['vip', '月付', 'shop 2', 'x'.repeat(MAX_TAG_CHARS), '<b>'])
    assert.ok(isValidTag(tag), tag);
  const invalid = [
    '',
    ' vip',
    'vip ',
    'a,b',
    'a，b',
    'a;b',
    'a、b',
    'a\n',
    'a\u2028',
    '\ud800',
    'x'.repeat(MAX_TAG_CHARS + 1),
  ];
  for (const tag of invalid) assert.ok(!isValidTag(tag), JSON.stringify(tag));
  const many = Array.from({ length: MAX_TAGS }, (_, i) => `t${i}`);
  assert.deepEqual([areValidTags(many), areValidTags([...many, 'another'])], [true, false]);
});

test('a text of tags may have Chinese separators, and a written text is read back', () => {
  assert.deepEqual(tagsOfText(' vip, 月付；shop 2、;x ,'), ['vip', '月付', 'shop 2', 'x']);
  const tags = uniqueTags(['b', 'a', 'b']);
  assert.deepEqual(tagsOfText(textOfTags(tags)), ['a', 'b']);
});

test('a change adds and removes tags, and a tag in both lists is removed', () => {
  assert.deepEqual(changedTags(['a', 'b'], { add: ['c', 'd'], remove: ['b', 'd', 'x'] }), ['a', 'c']);
  assert.deepEqual(changedTags(['a'], { add: [], remove: [] }), ['a']);
});
