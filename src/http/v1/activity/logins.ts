// /api/v1/logins and the daily traffic of an account; and what is known of the address of a client, beside it in answers of other
// routes too.
import { z } from 'zod';
import { LOGIN_OUTCOMES, type LoginFilter } from '../../../core/accounts/access/login-log.js';
import type { Calendar } from '../../../core/accounts/usage/calendar.js';
import { type ClientOrigin, type Geo, originOf } from '../../../core/addresses/geo.js';
import { withoutUndefined } from '../../../core/maps.js';
import { withMs, withTimes } from '../../../core/time/clock.js';
import { routesOf } from '../../api/route.js';
import {
  Bytes,
  Count,
  component,
  Day,
  Flag,
  Guid,
  IdParams,
  pageOf,
  Time,
  TimeRange,
} from '../../api/schemas.js';
import type { Services } from '../../services.js';
import { NO_ACCOUNT } from '../accounts/shared.js';
import { numberCursors } from '../cursors.js';

const Origin = z
  .object({ country: z.string().nullable(), asn: z.int().nullable(), network: z.string().nullable() })
  .meta({
    id: 'ClientOrigin',
    description:
      'Country (ISO 3166, lower case), and number and name of the network of the address of the client, by the files of `geo` in the configuration.',
  });

export const ClientFields = {
  client: z.string(),
  /** null: the files know nothing of the address, or there are none. */
  clientOrigin: Origin.nullable(),
};

export const withOrigin = <Item extends { readonly client: string }>(
  item: Item,
  geo: Geo,
): Item & { readonly clientOrigin: ClientOrigin | null } => ({
  ...item,
  clientOrigin: originOf(item.client, geo),
});

const LoginOutcome = z.enum(LOGIN_OUTCOMES).meta({
  id: 'LoginOutcome',
  description: 'Players see only that the login failed; operators see the reason.',
});

const Login = component('Login', {
  at: Time,
  /** null: no account has the name. */
  accountId: Guid.nullable(),
  /** Empty: the client sent no credentials, or a blocked address tried many names. */
  username: z.string(),
  ...ClientFields,
  outcome: LoginOutcome,
  /** Number of logins in this entry: the same outcome, name and address up to a minute apart; up to an hour if blocked. */
  times: z.int().min(1),
});

const TrafficDay = component('TrafficDay', {
  day: Day,
  /** The time zone in which the day is counted: days before a change of `timeZone` keep theirs. */
  zone: z.string(),
  bytesUp: Bytes,
  bytesDown: Bytes,
  sessions: Count,
});

export const Traffic = component('Traffic', { days: z.array(TrafficDay) });

const { route } = routesOf('Activity');

export const loginRoutes = [
  route('GET /api/v1/logins', 'listLogins', 'accounts:read', {
    summary: 'Logins and failures with addresses, newest first.',
    request: {
      query: z.object({
        ...numberCursors.PageQuery.shape,
        accountId: Guid.optional(),
        /** In user name and client address. */
        search: z.string().max(255).optional(),
        failed: Flag.optional(),
        /** An entry of several logins counts by the first. */
        ...TimeRange,
      }),
    },
    success: [200, 'A page.', pageOf(Login, 'LoginPage')],
    async handle({ query: { limit, cursor, ...named } }, { logins, geo }) {
      const filter = withoutUndefined<LoginFilter>(withMs(named));
      const [found, matched, total] = await Promise.all([
        logins.list(filter, numberCursors.placeOf(cursor), limit + 1),
        logins.count(filter),
        logins.count({}),
      ]);
      const { items, nextCursor } = numberCursors.page(found, limit, ({ place }) => place);
      const shown = items.map(({ place: _, ...entry }) => withOrigin(withTimes(entry, 'at'), geo));
      return { body: { items: shown, matched, total, nextCursor } };
    },
  }),
  route('GET /api/v1/accounts/{id}/traffic', 'getTraffic', 'accounts:read', {
    summary:
      'Traffic of an account per day of the time zone `timeZone`, oldest first; days without traffic are zero.',
    request: {
      params: IdParams,
      query: z.object({ days: z.coerce.number().int().min(1).max(366).default(30) }),
    },
    success: [200, 'Days.', Traffic],
    async handle({ params: { id }, query: { days } }, deps) {
      return deps.accounts.get(id) ? { body: await trafficOf(id, days, deps) } : NO_ACCOUNT;
    },
  }),
];

/** The traffic of an account on the newest days, oldest first. */
export async function trafficOf(
  id: string,
  count: number,
  { usage, calendar, now }: Pick<Services, 'usage' | 'calendar' | 'now'>,
): Promise<z.input<typeof Traffic>> {
  const numbers = lastDays(calendar, now(), count);
  const found = new Map((await usage.days(id, numbers[0] ?? 0)).map((each) => [each.day, each]));
  const days = numbers.map((number) => {
    const { bytesUp = 0, bytesDown = 0, sessions = 0 } = found.get(number) ?? {};
    const { date: day, zone } = calendar.dateOf(number);
    return { day, zone, bytesUp, bytesDown, sessions };
  });
  return { days };
}

/** The numbers of the newest days, oldest first. */
function lastDays(calendar: Calendar, now: number, count: number): number[] {
  const days = [calendar.dayOf(now)];
  for (let day = days[0] ?? 0; days.length < count; days.unshift(day)) {
    day = calendar.dayOf(calendar.startOfDay(day) - 1);
  }
  return days;
}
