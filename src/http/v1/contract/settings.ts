// The settings page: whitelist, game rules, retention, admin password, and what is in force from file and environment.
import { z } from 'zod';
import { Bytes, Count, route, Time } from './common.js';

export const Whitelist = z.object({ whitelist: z.string().max(65_536) }).meta({ id: 'Whitelist' });

export const WhitelistCheck = z
  .object({
    valid: z.boolean(),
    entries: z.array(
      z.object({
        text: z.string(),
        kind: z.enum(['address', 'wildcard', 'cidr', 'everyone', 'invalid']),
        /** First and last address, for what is neither everyone nor invalid. */
        first: z.string().nullable(),
        last: z.string().nullable(),
      }),
    ),
    /** The address this request came from, and whether the list would still let it in. */
    yourAddress: z.string(),
    yourAddressAllowed: z.boolean(),
    /** The address asked about: null when none was, or when it is not an address. */
    address: z.string().nullable(),
    addressAllowed: z.boolean().nullable(),
    /** The entry that lets it in; null: none, or the list is empty and everyone is let in. */
    matchedBy: z.string().nullable(),
  })
  .meta({ id: 'WhitelistCheck' });

/** One rule; the first that matches wins. Exactly one of `id` and `gameId`. */
export const GameRule = z
  .object({
    /** A fixed GameID for what `match` matches. */
    id: z.string().min(1).max(255).optional(),
    /** A pattern run over the first client bytes; its first group is the GameID. */
    gameId: z.string().min(1).max(1_000).optional(),
    match: z
      .object({
        /** Host patterns (`*.arena.example`) and CIDR ranges. */
        hosts: z.array(z.string().min(1).max(255)).max(1_000).optional(),
        /** Ports and ranges: 7000, "7100-7200". */
        ports: z
          .array(z.union([z.int().min(1).max(65_535), z.string().regex(/^\d{1,5}(-\d{1,5})?$/)]))
          .max(1_000)
          .optional(),
        protocol: z.enum(['tcp', 'udp']).optional(),
      })
      .optional(),
    /** How far `gameId` looks. */
    maxBytes: z.int().min(1).max(65_536).optional(),
  })
  .meta({ id: 'GameRule' });

const GameRules = z
  .object({
    rules: z.array(GameRule).max(1_000),
    /** `file`: as the configuration file has them; `console`: saved here, and winning over the file. */
    source: z.enum(['file', 'console']),
  })
  .meta({ id: 'GameRules' });

const GameRuleTest = z
  .object({
    rules: z.array(GameRule).min(1).max(1_000),
    /** `host:port`, `[::1]:port`. */
    destination: z.string().min(1).max(300),
    protocol: z.enum(['tcp', 'udp']).default('tcp'),
    /** The first client bytes, base64. */
    bytes: z.base64().max(90_000).default(''),
  })
  .meta({ id: 'GameRuleTest' });

const GameRuleTestResult = z
  .object({
    /** Index of the rule that matched. */
    rule: z.int().min(0).nullable(),
    gameId: z.string().nullable(),
    /** What each rule said, in order, up to the one that matched. */
    steps: z.array(
      z.object({
        rule: z.int().min(0),
        outcome: z.enum(['matched', 'other-host', 'other-port', 'other-protocol', 'pattern-not-found']),
      }),
    ),
  })
  .meta({ id: 'GameRuleTestResult' });

/** Where links, QR codes and files for players lead. */
export const LinkAddress = z
  .object({
    host: z.string(),
    port: z.int().min(0).max(65_535),
    /** What the host was taken from when none is set: the listener, or the address this browser uses. Null: it is set. */
    guess: z.enum(['listener', 'browser', 'interface']).nullable(),
  })
  .meta({ id: 'LinkAddress' });

const PublicHost = z.string().min(1).max(253).nullable();
const PublicPort = z.int().min(1).max(65_535).nullable();
const PublicSource = z.enum(['default', 'file', 'environment', 'flag', 'console']);

/** Null: not set. What is saved here wins over the configuration. */
export const PublicAddress = z
  .object({
    host: PublicHost,
    hostSource: PublicSource,
    port: PublicPort,
    portSource: PublicSource,
    /** What the configuration says: socks.publicHost and socks.publicPort. */
    configured: z.object({ host: PublicHost, port: PublicPort }),
    link: LinkAddress,
  })
  .meta({ id: 'PublicAddress' });

/** Each null: the configuration file's value is in force. Days are whole days. */
export const Retention = z
  .object({
    heartbeatDays: z.int().min(1).max(3_650),
    heartbeatsPerAccount: z.int().min(1).max(10_000_000),
    runDays: z.int().min(1).max(3_650),
    loginDays: z.int().min(1).max(3_650),
    auditDays: z.int().min(1).max(3_650),
  })
  .meta({ id: 'Retention' });

export const EffectiveConfig = z
  .object({
    configFile: z.string().nullable(),
    entries: z.array(
      z.object({
        /** `socks.handshakeTimeout`. */
        path: z.string(),
        /** As one would write it in the file; secrets are never here. */
        value: z.string(),
        source: z.enum(['default', 'file', 'environment', 'flag', 'console']),
        isSecret: z.boolean(),
      }),
    ),
    database: z.object({ client: z.string(), bytes: Bytes.nullable(), heartbeats: Count }),
    startedAt: Time,
  })
  .meta({ id: 'EffectiveConfig' });

const tag = 'Settings';
export const settingsRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/settings/whitelist',
    operationId: 'getWhitelist',
    summary: 'The IP whitelist as it was saved.',
    tag,
    access: 'settings:read',
    etag: true,
    request: {},
    responses: { 200: { description: 'The whitelist.', schema: Whitelist } },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/settings/whitelist',
    operationId: 'setWhitelist',
    summary:
      'Saves the IP whitelist, effective on the next request. Nothing is saved when an entry does not parse, or, with `keepMyAccess=true`, when it would shut out the address this request comes from (409 would-lock-you-out).',
    tag,
    access: 'settings:write',
    etag: true,
    request: {
      query: z.object({
        keepMyAccess: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false),
      }),
      body: Whitelist,
    },
    responses: { 200: { description: 'As it was saved.', schema: Whitelist } },
    problems: [409, 412],
  }),
  route({
    method: 'POST',
    path: '/api/v1/settings/whitelist/check',
    operationId: 'checkWhitelist',
    summary: 'Explains each entry of a whitelist and tries an address against it; saves nothing.',
    tag,
    access: 'settings:read',
    request: {
      body: Whitelist.extend({ address: z.string().max(255).optional() }).meta({ id: 'WhitelistQuestion' }),
    },
    responses: { 200: { description: 'The explanation.', schema: WhitelistCheck } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/settings/games',
    operationId: 'getGameRules',
    summary: 'The game rules in force, in order.',
    tag,
    access: 'settings:read',
    etag: true,
    request: {},
    responses: { 200: { description: 'The rules.', schema: GameRules } },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/settings/games',
    operationId: 'setGameRules',
    summary: 'Saves the game rules; they hold for flows opened from now on.',
    tag,
    access: 'settings:write',
    etag: true,
    request: { body: GameRules.pick({ rules: true }).meta({ id: 'GameRulesChange' }) },
    responses: { 200: { description: 'The rules as saved.', schema: GameRules } },
    problems: [412],
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/settings/games',
    operationId: 'forgetGameRules',
    summary: 'Goes back to the rules of the configuration file.',
    tag,
    access: 'settings:write',
    request: {},
    responses: { 200: { description: 'The rules of the file.', schema: GameRules } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/settings/games/test',
    operationId: 'testGameRules',
    summary: 'Runs rules against a destination and first bytes; saves nothing.',
    tag,
    access: 'settings:read',
    request: { body: GameRuleTest },
    responses: {
      200: {
        description: 'Which rule matched, and why the ones before did not.',
        schema: GameRuleTestResult,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/settings/retention',
    operationId: 'getRetention',
    summary: 'How long things are kept.',
    tag,
    access: 'settings:read',
    etag: true,
    request: {},
    responses: { 200: { description: 'Retention.', schema: Retention } },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/settings/retention',
    operationId: 'setRetention',
    summary: 'Changes how long things are kept; what is older goes within minutes.',
    tag,
    access: 'settings:write',
    etag: true,
    request: { body: Retention },
    responses: { 200: { description: 'As saved.', schema: Retention } },
    problems: [412],
  }),
  route({
    method: 'GET',
    path: '/api/v1/settings/public-address',
    operationId: 'getPublicAddress',
    summary: 'Where players connect, as links name it.',
    tag,
    access: 'settings:read',
    etag: true,
    request: {},
    responses: { 200: { description: 'What is set, where, and what links name.', schema: PublicAddress } },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/settings/public-address',
    operationId: 'setPublicAddress',
    summary: 'Sets the host and port that links name; null goes back to the configuration.',
    tag,
    access: 'settings:write',
    etag: true,
    request: {
      body: z.object({ host: PublicHost, port: PublicPort }).meta({ id: 'PublicAddressChange' }),
    },
    responses: { 200: { description: 'As saved.', schema: PublicAddress } },
    problems: [412],
  }),
  route({
    method: 'PUT',
    path: '/api/v1/settings/admin-password',
    operationId: 'setAdminPassword',
    summary: 'Changes the admin password; every other console session ends.',
    tag,
    access: 'operator',
    request: {
      body: z
        .object({ current: z.string().min(1).max(1_024), next: z.string().min(1).max(255) })
        .meta({ id: 'AdminPasswordChange' }),
    },
    responses: { 204: { description: 'Changed.' } },
    problems: [409],
  }),
  route({
    method: 'GET',
    path: '/api/v1/settings/effective',
    operationId: 'getEffectiveConfig',
    summary: 'The configuration in force, key by key, and where each value comes from.',
    tag,
    access: 'settings:read',
    request: {},
    responses: { 200: { description: 'The configuration.', schema: EffectiveConfig } },
  }),
];
