// The strict parser of JSON objects, and the canonical text of a value.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { canonicalJson, field, readJsonObject } from '../../../src/core/agents/webhooks.js';

const bytes = (text: string) => Buffer.from(text);
const json = fc.jsonValue({ maxDepth: 4 });

test('every object is read as by JSON.parse, with any keys', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), json),
      fc.constantFrom(undefined, 1, '\t'),
      (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        const read = readJsonObject(bytes(text));
        assert.ok(read.ok);
        assert.deepEqual(read.object, JSON.parse(text));
      },
    ),
  );
});

test('a duplicate key is refused anywhere in the outer object, and accepted in inner objects', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string(), { minLength: 1 }),
      fc.nat(),
      fc.nat(),
      json,
      (keys, from, to, value) => {
        const members = keys.map(
          (key) => `${JSON.stringify(key)}: ${JSON.stringify({ inner: value, again: keys })}`,
        );
        const once = readJsonObject(bytes(`{${members.join(',')}}`));
        assert.ok(once.ok);
        const duplicate = members[from % members.length] ?? '';
        const twice = [...members];
        twice.splice(to % (members.length + 1), 0, duplicate);
        assert.deepEqual(readJsonObject(bytes(`{${twice.join(',')}}`)), {
          ok: false,
          reason: 'duplicate-key',
        });
      },
    ),
  );
});

test('canonical texts are equal exactly when the values are equal', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      // JSON has no -0, so compare the values that a request can contain.
      const [one, two]: unknown[] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      assert.equal(canonicalJson(one) === canonicalJson(two), isDeepStrictEqual(one, two));
    }),
  );
  assert.equal(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] }), canonicalJson({ a: [{ c: 2, d: 1 }], b: 1 }));
});

test('an object of depth 64 is read, and one of depth 65 is refused', () => {
  const nested = (depth: number) =>
    readJsonObject(bytes(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`));
  assert.equal(nested(64).ok, true);
  assert.deepEqual(nested(65), { ok: false, reason: 'too-deep' });
});

test('a field must be an own property, and null counts as absent', () => {
  const read = readJsonObject(bytes('{"__proto__":{"agent":"x"},"a":null,"b":0}'));
  assert.ok(read.ok);
  assert.deepEqual(
    ['agent', 'toString', 'a', 'b'].map((name) => field(read.object, name)),
    [undefined, undefined, undefined, 0],
  );
  assert.deepEqual(field(read.object, '__proto__'), { agent: 'x' });
});
