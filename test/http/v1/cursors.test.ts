// Page cursors: each kind reads the cursors that it writes, and every list refuses all other texts with the same error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  conversationCursors,
  idCursors,
  numberCursors,
  pageSortedBy,
  sortedCursors,
} from '../../../src/http/v1/cursors.js';
import { routes } from '../../../src/http/v1/routes.js';
import { startTestAdmin } from '../../helpers/admin.js';

const ID = '01900000-0000-7000-8000-00000000000a';

test('a page has a cursor after its last item only when another page follows', () => {
  const rows = [{ place: 30 }, { place: 20 }, { place: 10 }];
  const page = numberCursors.page(rows, 2, ({ place }) => place);
  assert.deepEqual(page, { items: rows.slice(0, 2), nextCursor: '20' });
  assert.equal(numberCursors.placeOf(page.nextCursor ?? undefined), 20);
  assert.equal(numberCursors.page(rows, 3, ({ place }) => place).nextCursor, null);
  assert.deepEqual(
    numberCursors.page([], 3, () => 0),
    { items: [], nextCursor: null },
  );
  assert.equal(numberCursors.placeOf(undefined), null);
});

test('each kind reads the cursors that it writes, also those from earlier versions', () => {
  assert.equal(numberCursors.placeOf('1797946200000123'), 1_797_946_200_000_123);
  assert.equal(idCursors.placeOf(ID.toUpperCase()), ID);
  assert.deepEqual(conversationCursors.placeOf('1797946200000~game:7~b'), {
    lastUsedAt: 1_797_946_200_000,
    key: 'game:7~b',
  });
  for (const value of ['ann', 7, null]) {
    const place = { value, id: ID };
    const { nextCursor: cursor } = sortedCursors.page([place, place], 1, (last) => last);
    assert.equal(cursor, Buffer.from(JSON.stringify([value, ID])).toString('base64url'));
    assert.deepEqual(sortedCursors.placeOf(cursor ?? ''), { value, id: ID });
  }
});

test('each kind refuses other texts', () => {
  const object = Buffer.from('[{},"a"]').toString('base64url');
  const cases = [
    [numberCursors, ['x', '-1', '1.5', '1e3', '9007199254740992', '12345678901234567']],
    [idCursors, ['x', '0'.repeat(36), `${ID}0`, '-'.repeat(36)]],
    [conversationCursors, ['x', '~a', '1~', '-1~a']],
    [sortedCursors, ['x', 'bnVsbA', object, Buffer.from('[1,1]').toString('base64url')]],
  ] as const;
  for (const [{ PageQuery }, texts] of cases)
    for (const cursor of texts) assert.equal(PageQuery.safeParse({ cursor }).success, false, cursor);
});

test('every list answers a wrong cursor with the same error', async (t) => {
  const admin = await startTestAdmin(t);
  const lists = routes.filter(({ request }) => 'cursor' in (request.query?.shape ?? {}));
  assert.ok(lists.length >= 9, `${lists.length} lists`);
  for (const { path } of lists) {
    // A trace without a time is refused for that too.
    const at = path.endsWith('/trace') ? '&at=2026-11-23T07:00:00Z' : '';
    const { status, json } = await admin.api('GET', `${path}?cursor=x${at}`);
    const { errors } = json as { errors: unknown };
    assert.deepEqual(
      [status, errors],
      [400, [{ path: 'query.cursor', message: 'is not a cursor of this list', code: 'cursor', values: {} }]],
      path,
    );
    const empty = await admin.api('GET', `${path}?cursor=`);
    assert.equal((empty.json as { errors: { code: string }[] }).errors[0]?.code, 'too-short', path);
  }
});

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
        let cursor: string | undefined;
        do {
          const query = { sort: descending ? '-value' : 'value', limit, cursor };
          const page = pageSortedBy(items, query, { value: (item) => item.value }, null, ({ id }) => id);
          assert.equal(page.matched, items.length);
          collected.push(...page.items);
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
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
