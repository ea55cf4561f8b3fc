// The keys of `admin`.
import { z } from 'zod';
import { parseCidr } from '../core/addresses/ip.js';
import {
  about,
  autoOr,
  duration,
  flag,
  listenHosts,
  listenPort,
  oneOf,
  orNull,
  report,
  section,
  servedHost,
  size,
  text,
  textThat,
  whole,
} from './fields.js';

const pemFile = () => orNull(text('the path of a PEM file'));

const tls = section({
  cert: pemFile(),
  key: pemFile(),
  handshakeTimeout: duration({ min: '10ms', max: '1m' }).prefault('10s'),
}).superRefine(({ cert, key }, context) => {
  if ((cert === null) === (key === null)) return;
  const [missing, given] = cert === null ? ['cert', 'key'] : ['key', 'cert'];
  report(context, [missing], `the path of a PEM file, because admin.tls.${given} is set`);
});

const PLAYER_CHANGES = 'a list of password and authorizedAddresses';

const playerPage = section({
  enabled: flag().default(false),
  pac: flag().default(false),
  outsideWhitelist: flag().default(false),
  host: listenHosts().prefault('localhost'),
  port: orNull(whole(1, 65_535)),
  url: orNull(
    textThat(
      'null, or the start of the addresses of players: http:// or https://, a host and a port, without a path',
      (url) => URL.canParse(url) && /^https?:\/\/[^/?#@]+$/.test(url),
    ),
  ),
  title: text(
    'a name of 1 to 64 characters, without commas and control characters',
    /^[^\p{Cc},]{1,64}$/u,
  ).default('Pulsegate'),
  color: orNull(text('null, or a colour such as "#2b5fd9"', /^#[\da-f]{6}$/i)),
  picture: orNull(text('null, or the path of a PNG, JPEG or WebP file', /\.(png|jpe?g|webp)$/i)),
  contact: orNull(text('null, or a text of 1 to 500 characters', /^.{1,500}$/su)),
  mayChange: z
    .array(oneOf('password', 'authorizedAddresses'))
    .register(about, { allowed: PLAYER_CHANGES })
    .default(['password']),
  minCharacters: whole(1, 255).default(8),
  maxRequestsPerMinute: whole(1, 1_000_000).default(300),
  maxChangesPerHour: whole(1, 1_000_000).default(20),
});

export const adminSchema = section({
  session: section({
    idleTimeout: duration({ min: '1s', max: '30d' }).prefault('12h'),
    maxAge: duration({ min: '1s', max: '365d' }).prefault('7d'),
    confirmFor: duration({ min: '1s', max: '24h' }).prefault('5m'),
    max: whole(1, 10_000).default(100),
  }).prefault({}),
  attempts: section({
    maxFailuresPerSource: whole(1, 1_000_000).default(20),
    failureWindow: duration({ min: '1s', max: '24h' }).prefault('5m'),
    maxSources: whole(1, 10_000_000).default(10_000),
    maxCodeFailures: whole(1, 1_000).default(10),
    codeFailureWindow: duration({ min: '1s', max: '24h' }).prefault('1h'),
  }).prefault({}),
  signInChecks: section({
    maxAtOnce: whole(1, 64).default(1),
    maxWaiting: whole(0, 10_000).default(32),
  }).prefault({}),
  totpKeyFile: orNull(text('the path of a file with 64 hexadecimal digits')),
  logins: section({
    days: whole(1, 3_650).default(90),
    maxEntries: whole(1, 100_000_000).default(500_000),
    maxBlockedNames: whole(0, 1_000).default(3),
  }).prefault({}),
  audit: section({ days: whole(1, 3_650).default(365) }).prefault({}),
  idempotency: section({
    maxKeys: whole(1, 1_000_000).default(10_000),
    maxAnswer: size({ min: '1KiB', max: '16MiB' }).prefault('256KiB'),
  }).prefault({}),
  maxTokens: whole(1, 10_000).default(100),
  maxEventStreams: whole(1, 10_000).default(50),
  maxBulkBody: size({ min: '1KiB', max: '64MiB' }).prefault('4MiB'),
  maxImport: size({ min: '1KiB', max: '10GiB' }).prefault('256MiB'),
  host: listenHosts().prefault('localhost'),
  port: listenPort().default(8080),
  tls: tls.prefault({}),
  trustedProxies: z
    .array(textThat('an address or a network such as 10.0.0.0/8', (entry) => parseCidr(entry) !== null))
    .default([]),
  allowedHosts: z.array(servedHost()).default([]),
  maxBody: size({ min: '1KiB', max: '10MiB' }).prefault('64KiB'),
  playerPage: playerPage.prefault({}),
  accountForm: flag().default(false),
  maxDelayedPerSource: whole(1, 100_000).default(64),
  connections: section({
    max: autoOr(1_000_000),
    maxPerSource: autoOr(1_000_000),
    maxOutside: autoOr(1_000_000),
    outsideTimeout: duration({ min: '10ms', max: '1m' }).prefault('5s'),
    idleTimeout: duration({ min: '10ms', max: '1h' }).prefault('30s'),
    minRate: size({ min: '1B', max: '1MiB' }).prefault('1KiB'),
  }).prefault({}),
});
