// /api/v1/accounts/tags: the tags in use, for choosing among them.
import { z } from 'zod';
import { routesOf } from '../../api/route.js';
import { Count } from '../../api/schemas.js';
import { Tag } from './field-schemas.js';

const { route } = routesOf('Accounts');

const TagUses = z
  .object({
    items: z.array(
      z.object({
        tag: Tag,
        /** Number of accounts with the tag. */
        accounts: Count,
      }),
    ),
  })
  .meta({ id: 'TagUses' });

export const accountTagRoutes = [
  route('GET /api/v1/accounts/tags', 'listTags', 'accounts:read', {
    summary: 'The tags in use, each with its number of accounts.',
    responses: { 200: { description: 'Sorted by tag.', schema: TagUses } },
    async handle(_input, { accounts }) {
      const counts = new Map<string, number>();
      for (const { account } of accounts.list()) {
        for (const tag of account.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      }
      const items = [...counts].sort().map(([tag, count]) => ({ tag, accounts: count }));
      return { body: { items } };
    },
  }),
];
