// /api/v1/settings: what an operator changes while the daemon runs.
import type Router from '@koa/router';
import type { WhitelistSetting } from '../../core/whitelist-setting.js';
import { answer, quoted, refuse } from '../answer.js';
import type { ReadJsonObject } from '../body.js';
import { actorOf } from '../caller.js';
import { kindOf } from '../fields.js';
import type { AdminState } from '../state.js';

export function settingsRoutes(
  router: Router<AdminState>,
  { whitelist, readJsonObject }: { whitelist: WhitelistSetting; readJsonObject: ReadJsonObject },
): void {
  router.get('/api/v1/settings/whitelist', (ctx) => answer(ctx, { whitelist: whitelist.text() }));

  // Saved as it is told, even if that shuts the caller out: asking first is the console's part.
  router.put('/api/v1/settings/whitelist', async (ctx) => {
    const body = await readJsonObject(ctx);
    if (!body.ok) return refuse(ctx, body.code, body.detail);
    const text = body.fields.get('whitelist');
    if (typeof text !== 'string') {
      const found = text === undefined ? 'missing' : `of type ${kindOf(text)}`;
      return refuse(ctx, 'malformed-request', `whitelist is ${found}; expected a string`);
    }
    const saved = await whitelist.save(text, actorOf(ctx.state.caller));
    if (!saved.ok) {
      const bad = saved.badEntries.slice(0, 5).map(quoted).join(', ');
      return refuse(
        ctx,
        'malformed-request',
        `not an address, a prefix ending in *, or a CIDR block: ${bad}`,
      );
    }
    answer(ctx, { whitelist: whitelist.text() });
  });
}
