// GET and PUT of a setting: entity tag, audit and notification for all of them. Each setting says its texts, its schemas, what it
// shows and how it is saved.
import type { ParameterizedContext } from 'koa';
import type { z } from 'zod';
import type { Actor } from '../../../core/audit/audit.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { etagOf, type RouteDescription, routesOf, versionProblem } from '../../api/route.js';
import { type AdminState, actorOf, type Caller } from '../../caller.js';
import type { Services } from '../../services.js';

/** `description`: of the answer. */
type Texts = readonly [operationId: string, summary: string, description: string];
type Saved = ProblemAnswer | null;

export function settingRoutes<
  const Name extends string,
  Shown extends z.ZodType,
  Body extends z.ZodType,
  Query extends z.ZodObject = z.ZodObject<Record<string, never>>,
>(setting: {
  /** Below /api/v1/settings. */
  readonly name: Name;
  readonly tag?: 'Notices';
  readonly schema: Shown;
  readonly body: Body;
  /** Of PUT. */
  readonly query?: Query;
  readonly get: readonly [...Texts, access?: RouteDescription['access']];
  readonly put: readonly [
    ...Texts,
    more?: Partial<Pick<RouteDescription, 'bulkBody' | 'needsConfirmation' | 'problems'>>,
  ];
  /** The present value, and what of it the entity tag covers: everything, unless said otherwise. */
  readonly present: (
    services: Services,
    ctx: ParameterizedContext<AdminState>,
  ) => { readonly body: object; readonly version?: unknown };
  /** Saves the body, unless `otherVersion` returns a problem for the stored version: it is not the one that the caller read. */
  readonly save: (
    input: {
      readonly body: z.output<Body>;
      readonly query: z.output<Query>;
      readonly by: Actor;
      readonly caller: Caller;
    },
    services: Services,
    otherVersion: (version: unknown) => Saved,
  ) => Promise<Saved>;
}) {
  const { route } = routesOf(setting.tag ?? 'Settings');
  const path = `/api/v1/settings/${setting.name}` as const;
  const describe = (summary: string, description: string) => ({
    etag: true,
    summary,
    success: [200, description, setting.schema] as const,
  });
  const [getId, getSummary, shownAs, access = 'settings:read'] = setting.get;
  const [putId, putSummary, savedAs, more] = setting.put;
  const shown = (services: Services, ctx: ParameterizedContext<AdminState>) => {
    const { body, version = body } = setting.present(services, ctx);
    return { body, headers: { ETag: etagOf(version) } };
  };
  return [
    route(`GET ${path}`, getId, access, {
      ...describe(getSummary, shownAs),
      handle: async ({ ctx }, services) => shown(services, ctx),
    }),
    route(`PUT ${path}`, putId, 'settings:write', {
      request: { body: setting.body, query: setting.query as Query },
      ...describe(putSummary, savedAs),
      ...more,
      async handle({ body, query, caller, ifMatch, ctx }, services) {
        const given = { body: body as z.output<Body>, query: query as z.output<Query> };
        const input = { ...given, caller, by: actorOf(caller) };
        const refused = await setting.save(input, services, (version) =>
          versionProblem(ifMatch, etagOf(version)),
        );
        if (refused) return refused;
        services.onSettingChanged();
        return shown(services, ctx);
      },
    }),
  ];
}
