// Pages of a sorted list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Page, pageOfSorted, type SortedPlace } from '../../../src/http/api/sorted-page.js';

test('pages of any size contain every item once and in order, with null values last in both directions', () => {
  const value = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(
      fc.array(value),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (values, limit, descending) => {
        const items = values.map((each, i) => ({ id: String(i).padStart(4, '0'), value: each }));
        const collected: typeof items = [];
        let after: SortedPlace | null = null;
        do {
          const page: Page<(typeof items)[number]> = pageOfSorted(items, {
            limit,
            after,
            descending,
            valueOf: (item) => item.value,
            idOf: (item) => item.id,
          });
          assert.equal(page.matched, items.length);
          collected.push(...page.items);
          after = page.next;
        } while (after !== null);
        const rank = (item: (typeof items)[number]) =>
          item.value === null ? Number.POSITIVE_INFINITY : descending ? -item.value : item.value;
        assert.deepEqual(
          collected,
          [...items].sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1)),
        );
      },
    ),
  );
});
