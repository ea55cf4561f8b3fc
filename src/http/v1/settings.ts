// /api/v1/settings/whitelist. It was there before the rest of /api/v1: its refusals are those of the account API, JSON
// strings, but for what only a newer client asks for.
import type Router from '@koa/router';
import { parseWhitelist } from '../../core/auth/whitelist.js';
import type { WhitelistSetting } from '../../core/auth/whitelist-setting.js';
import { answer, quoted, refuse } from '../answer.js';
import type { ReadJsonObject } from '../body.js';
import { actorOf } from '../caller.js';
import { kindOf } from '../fields.js';
import type { AdminState } from '../state.js';
import { etagOf, matches } from './etag.js';
import { sendProblem } from './problem.js';
import { refuseCaller } from './serve.js';

export function settingsRoutes(
  router: Router<AdminState>,
  {
    whitelist,
    readJsonObject,
    onChanged,
  }: { whitelist: WhitelistSetting; readJsonObject: ReadJsonObject; onChanged: () => void },
): void {
  const etag = () => etagOf(whitelist.text());

  router.get('/api/v1/settings/whitelist', (ctx) => {
    const refused = refuseCaller(ctx.state.caller, 'settings:read');
    if (refused) return sendProblem(ctx, refused);
    ctx.set('ETag', etag());
    answer(ctx, { whitelist: whitelist.text() });
  });

  // Saved as it is told, even if that shuts the caller out, unless `keepMyAccess=true` says not to.
  router.put('/api/v1/settings/whitelist', async (ctx) => {
    const refused = refuseCaller(ctx.state.caller, 'settings:write');
    if (refused) return sendProblem(ctx, refused);
    const body = await readJsonObject(ctx);
    if (!body.ok) return refuse(ctx, body.code, body.detail);
    const text = body.fields.get('whitelist');
    if (typeof text !== 'string') {
      const found = text === undefined ? 'missing' : `of type ${kindOf(text)}`;
      return refuse(ctx, 'malformed-request', `whitelist is ${found}; expected a string`);
    }
    if (!matches(ctx.req.headers['if-match'] ?? null, etag())) {
      return sendProblem(ctx, { problem: 'changed-meanwhile' });
    }
    const parsed = parseWhitelist(text);
    const keepsAccess = new URLSearchParams(ctx.querystring).get('keepMyAccess') === 'true';
    if (keepsAccess && parsed.ok && !parsed.whitelist.allows(ctx.state.client)) {
      const detail = `${ctx.state.client} is not among these`;
      return sendProblem(ctx, { problem: 'would-lock-you-out', detail });
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
    onChanged();
    ctx.set('ETag', etag());
    answer(ctx, { whitelist: whitelist.text() });
  });
}
