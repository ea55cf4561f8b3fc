// The types of the values of keys: each registers a description of the allowed values for error messages.
import { z } from 'zod';
import { isHost, isHttpUrl, NAME_OR_WILDCARD } from '../core/addresses/endpoints.js';
import { parseDuration, parseSize, Quantity, Secret, type Unit } from './units.js';

/** The description of a key for error messages. It replaces the messages of zod, which are not written for operators. */
export interface About {
  readonly allowed: string;
  /** Error messages and logs must not show the value. */
  readonly secret?: true;
}

export const about = z.registry<About>();

// setTimeout accepts at most 2^31-1 ms, a little less than 25 days.
const LONGEST_TIMER = '24d';

/** A duration from `min` to `max`, such as '10s'. */
export function duration({ min = '1ms', max = LONGEST_TIMER }: { min?: string; max?: string } = {}) {
  return quantity('Ms', parseDuration, min, max, 'a duration such as 250ms, 10s, 5m, 24h or 30d');
}

/** A size from `min` to `max`, such as '64KiB'. */
export function size({ min = '1B', max = '1GiB' }: { min?: string; max?: string } = {}) {
  return quantity('Bytes', parseSize, min, max, 'a size such as 512B, 64KiB or 10MiB');
}

function quantity<U extends Unit>(
  unit: U,
  parse: (text: string) => number | null,
  min: string,
  max: string,
  form: string,
) {
  const lowest = parse(min);
  const highest = parse(max);
  if (lowest === null || highest === null) throw new TypeError(`invalid bounds: ${min} to ${max}`);
  const schema = z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== null && value >= lowest && value <= highest) return new Quantity(unit, value, text);
    context.addIssue({ code: 'custom' });
    return z.NEVER;
  });
  return schema.register(about, { allowed: `${form}, from ${min} to ${max}` });
}

export const whole = (min: number, max: number, allowed = `a whole number from ${min} to ${max}`) =>
  z.int().check(z.gte(min), z.lte(max)).register(about, { allowed });

/** `auto`, which is the default, or a whole number from 1. */
export const autoOr = (max: number) =>
  z
    .union([z.literal('auto'), whole(1, max)])
    .register(about, { allowed: `auto, or a whole number from 1 to ${max}` })
    .default('auto');

export const listenPort = () => whole(0, 65_535, 'a port from 0 to 65535 (0 picks a free port)');

export const flag = () => z.boolean().register(about, { allowed: 'true or false' });

export function oneOf<const T extends readonly [string, ...string[]]>(...names: T) {
  return z.enum(names).register(about, { allowed: names.join(', ').replace(/, ([^,]*)$/, ' or $1') });
}

/** Text of 1 to 4096 characters, not secret. `form` restricts it further; `allowed` describes it for error messages. */
export const text = (allowed: string, form: RegExp = /^[^\0]+$/su) =>
  z.string().check(z.minLength(1), z.maxLength(4096), z.regex(form)).register(about, { allowed });

export const textThat = (allowed: string, accepts: (text: string) => boolean) =>
  z.string().check(z.maxLength(4096), z.refine(accepts)).register(about, { allowed });

/** Secret text of 1 to 4096 characters, parsed as a `Secret`. `form` restricts it further. */
export function secret(allowed = 'a text of 1 to 4096 characters', form = /./s) {
  return z
    .string()
    .check(z.maxLength(4096), z.regex(form))
    .transform((value) => new Secret(value))
    .register(about, { allowed, secret: true });
}

export const CONNECTION_FORM = 'a text such as postgres://pulsegate:PASSWORD@db.example:5432/pulsegate';

/** A PostgreSQL connection string. Secret, because it may contain a password. */
export const connectionString = () => secret(CONNECTION_FORM, /^postgres(ql)?:\/\/[^\0\r\n]*$/);

const LISTEN_HOSTS_FORM =
  'an address or host name, or a list of them (localhost means both loopback addresses)';

/** One address or host name to listen on, or a list of them; always parsed as a list. */
export function listenHosts() {
  const host = textThat(LISTEN_HOSTS_FORM, isHost);
  return z
    .union([host, z.array(host).min(1)])
    .transform((hosts) => [...new Set([hosts].flat())])
    .register(about, { allowed: LISTEN_HOSTS_FORM });
}

/** A host name that clients may send in the Host header, or `*.name`. */
export const servedHost = () =>
  text('a host name such as console.example, or *.example for every name below it', NAME_OR_WILDCARD);

/** An http or https URL without credentials. */
export const httpUrl = () =>
  textThat('an http:// or https:// URL without a user name or password in it', isHttpUrl);

/** Reports a value that does not fit others. `allowed` completes "allowed: …". */
export const report = (context: z.RefinementCtx, path: (string | number)[], allowed: string): void =>
  context.addIssue({ code: 'custom', path, message: allowed });

/** A value that need not be given; null when it is not. */
export const orNull = <S extends z.ZodType>(schema: S) => schema.nullable().default(null);

/** A group of keys. Unknown keys are errors. */
export const section = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape);
