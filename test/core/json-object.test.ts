// Reading JSON objects strictly, and what identifies a request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { canonicalJson, field, readJsonObject } from '../../src/core/json-object.js';

const bytes = (text: string) => Buffer.from(text);
const json = fc.jsonValue({ maxDepth: 4 });

test('every object is read as JSON.parse reads it, however its keys look', () => {
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

test('a key that stands twice at the top is found wherever it stands, and only there', () => {
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
        const again = members[from % members.length] ?? '';
        const twice = [...members];
        twice.splice(to % (members.length + 1), 0, again);
        assert.deepEqual(readJsonObject(bytes(`{${twice.join(',')}}`)), {
          ok: false,
          reason: 'duplicate-key',
        });
      },
    ),
  );
});

test('canonical texts are equal exactly when the values are', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      // JSON has no -0: read back what a request could have said.
      const [one, two]: unknown[] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      assert.equal(canonicalJson(one) === canonicalJson(two), isDeepStrictEqual(one, two));
    }),
  );
  assert.equal(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] }), canonicalJson({ a: [{ c: 2, d: 1 }], b: 1 }));
});

test('depth 64 is read, 65 is not', () => {
  const nested = (depth: number) =>
    readJsonObject(bytes(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`));
  assert.equal(nested(64).ok, true);
  assert.deepEqual(nested(65), { ok: false, reason: 'too-deep' });
});

test('only own fields are fields, and null is as good as absent', () => {
  const read = readJsonObject(bytes('{"__proto__":{"agent":"x"},"a":null,"b":0}'));
  assert.ok(read.ok);
  assert.deepEqual(
    ['agent', 'toString', 'a', 'b'].map((name) => field(read.object, name)),
    [undefined, undefined, undefined, 0],
  );
  assert.deepEqual(field(read.object, '__proto__'), { agent: 'x' });
});
