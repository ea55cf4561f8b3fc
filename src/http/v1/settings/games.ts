// /api/v1/settings/games: the rules that determine the game of a flow.
import { z } from 'zod';
import { parseIp } from '../../../core/addresses/ip.js';
import {
  GameRuleError,
  type GameRule as Rule,
  type RulesInForce,
  testGameRules,
} from '../../../core/heartbeats/game-rules.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { etagOf, routesOf } from '../../api/route.js';
import { component } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { settingRoutes } from './setting-routes.js';

/** One rule. The first matching rule wins. Exactly one of `id` and `gameId`. */
const GameRule = component('GameRule', {
  /** A fixed GameID for flows that `match` matches. */
  id: z.string().min(1).max(255).optional(),
  /** A pattern for the first client bytes. Its first group is the GameID. */
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
  /** Number of bytes that `gameId` examines. */
  maxBytes: z.int().min(1).max(65_536).optional(),
});

const GameRules = component('GameRules', {
  rules: z.array(GameRule).max(1_000),
  /** `file`: the rules of the configuration file; `console`: rules saved here, which replace those of the file. */
  source: z.enum(['file', 'console']),
});

const GameRuleTest = component('GameRuleTest', {
  rules: z.array(GameRule).min(1).max(1_000),
  /** `host:port`, `[::1]:port`. */
  destination: z.string().min(1).max(300),
  protocol: z.enum(['tcp', 'udp']).default('tcp'),
  /** The first client bytes, base64. */
  bytes: z.base64().max(90_000).default(''),
});

const GameRuleTestResult = component('GameRuleTestResult', {
  /** Index of the matching rule. */
  rule: z.int().min(0).nullable(),
  gameId: z.string().nullable(),
  /** The result of each rule, in order, up to the matching one. */
  steps: z.array(
    z.object({
      rule: z.int().min(0),
      outcome: z.enum(['matched', 'other-host', 'other-port', 'other-protocol', 'pattern-not-found']),
    }),
  ),
});

const { route } = routesOf('Settings');

export const gameRuleRoutes = [
  ...settingRoutes({
    name: 'games',
    schema: GameRules,
    body: GameRules.pick({ rules: true }).meta({ id: 'GameRulesChange' }),
    get: ['getGameRules', 'The game rules in force, in order.', 'The rules.'],
    put: [
      'setGameRules',
      'Saves the game rules; they apply to flows opened from now on.',
      'The rules as saved.',
      { bulkBody: true },
    ],
    present: ({ gameRules }) => ({ body: inForce(gameRules.inForce()) }),
    async save({ body, by }, { gameRules }, otherVersion) {
      const saved = await gameRules.save(body.rules as readonly Rule[], by, (stored) =>
        otherVersion(inForce(stored)),
      );
      if ('refusal' in saved) return saved.refusal;
      return saved.ok ? null : invalidRule(saved.error);
    },
  }),
  route('DELETE /api/v1/settings/games', 'forgetGameRules', 'settings:write', {
    summary: 'Discards the saved rules: those of the configuration file apply again.',
    success: [200, 'The rules of the file.', GameRules],
    async handle({ caller }, { gameRules, onSettingChanged }) {
      await gameRules.forget(actorOf(caller));
      onSettingChanged();
      const body = inForce(gameRules.inForce());
      return { body, headers: { ETag: etagOf(body) } };
    },
  }),
  route('POST /api/v1/settings/games/test', 'testGameRules', 'settings:read', {
    summary: 'Tests rules with a destination and first bytes; saves nothing.',
    bulkBody: true,
    request: { body: GameRuleTest },
    success: [200, 'Which rule matched, and why the ones before did not.', GameRuleTestResult],
    async handle({ body: { rules, destination, protocol, bytes } }, { compilePattern }) {
      const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(destination) ?? [];
      const host = bracketed ?? plain;
      if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
        return invalid('body.destination', 'destination');
      }
      const flow = { host, ip: parseIp(host), port: Number(port), protocol };
      try {
        const first = Buffer.from(bytes, 'base64');
        const body = testGameRules(rules as readonly Rule[], flow, first, compilePattern);
        return { body };
      } catch (error) {
        if (error instanceof GameRuleError) return invalidRule(error);
        throw error;
      }
    },
  }),
];

const invalidRule = ({ path, code, values }: GameRuleError): ProblemAnswer =>
  invalid(`body.rules${path}`, code, values);

/** The rules as the API shows them. */
const inForce = ({ rules, source }: RulesInForce) => ({ rules, source });
