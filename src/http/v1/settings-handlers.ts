// /api/v1: game rules, retention, the whitelist explained, the admin password, and what is in force.

import { type AdminCredentials, MIN_ADMIN_PASSWORD_CHARACTERS } from '../../core/auth/admin-credentials.js';
import type { ConsoleSessions } from '../../core/auth/console-sessions.js';
import { parseWhitelist } from '../../core/auth/whitelist.js';
import { explainWhitelist, matchingEntry } from '../../core/auth/whitelist-explain.js';
import { type CompilePattern, type GameRule, GameRuleError } from '../../core/heartbeats/game-rules.js';
import type { GameRulesSetting } from '../../core/heartbeats/game-rules-setting.js';
import { testGameRules } from '../../core/heartbeats/game-rules-test.js';
import { normalizeAddress, parseIp } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import type { RetentionSetting } from '../../core/settings/retention.js';
import { TOO_MANY_ATTEMPTS } from '../answer.js';
import { actorOf, sessionOf } from '../caller.js';
import type { AdminAttempts } from '../guards/attempts.js';
import type { settingsRoutes } from './contract/settings.js';
import { etagOf, matches } from './etag.js';
import { type PublicAddressUses, publicAddressHandlers } from './public-address.js';
import type { Answered, Handlers, ProblemAnswer } from './serve.js';

export interface Effective {
  readonly configFile: string | null;
  readonly entries: readonly {
    readonly path: string;
    readonly value: string;
    readonly source: 'default' | 'file' | 'environment' | 'flag' | 'console';
    readonly isSecret: boolean;
  }[];
  readonly database: {
    readonly client: string;
    readonly bytes: number | null;
    readonly heartbeats: number;
  };
  readonly startedAt: string;
}

export interface SettingsUses extends Omit<PublicAddressUses, 'socks'> {
  readonly gameRules: GameRulesSetting;
  readonly compilePattern: CompilePattern;
  readonly retention: RetentionSetting;
  readonly effective: () => Promise<Effective>;
}

type OtherSetting = Exclude<
  (typeof settingsRoutes)[number],
  { operationId: 'getWhitelist' | 'setWhitelist' }
>;

export function settingsHandlers(
  uses: SettingsUses & {
    readonly socks: PublicAddressUses['socks'];
    readonly credentials: AdminCredentials;
    readonly consoleSessions: Pick<ConsoleSessions, 'keepOnly'>;
    readonly log: Pick<Log, 'warn'>;
    readonly attempts: AdminAttempts;
    readonly onChanged: () => void;
  },
): Handlers<OtherSetting> {
  const { gameRules, retention, credentials, consoleSessions, attempts, log, onChanged } = uses;

  function shownRules(): Answered {
    const rules = gameRules.rules();
    const body = { rules, source: gameRules.source() };
    return { status: 200, body, headers: { ETag: etagOf(body) } };
  }
  function shownRetention(): Answered {
    return { status: 200, body: retention.current(), headers: { ETag: etagOf(retention.current()) } };
  }

  return {
    ...publicAddressHandlers(uses),

    async checkWhitelist({ body: { whitelist, address }, caller }) {
      const entries = explainWhitelist(whitelist);
      const parsed = parseWhitelist(whitelist);
      const asked = address === undefined ? null : normalizeAddress(address.trim());
      const known = asked !== null && parseIp(asked) ? asked : null;
      const allows = (each: string) => parsed.ok && parsed.whitelist.allows(each);
      return {
        status: 200,
        body: {
          valid: parsed.ok,
          entries,
          yourAddress: caller.address,
          yourAddressAllowed: allows(caller.address),
          address: known,
          addressAllowed: known === null ? null : allows(known),
          matchedBy: known === null ? null : matchingEntry(whitelist, known),
        },
      };
    },

    getGameRules: async () => shownRules(),

    async setGameRules({ body, caller, ifMatch }) {
      if (!matches(ifMatch, String(shownRules().headers?.['ETag']))) return CHANGED_MEANWHILE;
      const saved = await gameRules.save(body.rules as readonly GameRule[], actorOf(caller));
      if (!saved.ok) return invalid(`body.rules${saved.path}`, saved.message);
      onChanged();
      return shownRules();
    },

    async forgetGameRules({ caller }) {
      await gameRules.forget(actorOf(caller));
      onChanged();
      return shownRules();
    },

    async testGameRules({ body: { rules, destination, protocol, bytes } }) {
      const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(destination) ?? [];
      const host = bracketed ?? plain;
      if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
        return invalid('body.destination', 'must be host:port or [IPv6 address]:port');
      }
      const flow = { host, ip: parseIp(host), port: Number(port), protocol };
      try {
        const first = Buffer.from(bytes, 'base64');
        const body = testGameRules(rules as readonly GameRule[], flow, first, uses.compilePattern);
        return { status: 200, body };
      } catch (error) {
        if (error instanceof GameRuleError) return invalid(`body.rules${error.path}`, error.message);
        throw error;
      }
    },

    getRetention: async () => shownRetention(),

    async setRetention({ body, caller, ifMatch }) {
      if (!matches(ifMatch, etagOf(retention.current()))) return CHANGED_MEANWHILE;
      if (caller.scopes !== null && body.auditDays < retention.current().auditDays) {
        return { problem: 'wrong-scope', detail: 'tokens may not shorten the audit log (auditDays)' };
      }
      await retention.save(body, actorOf(caller));
      onChanged();
      return shownRetention();
    },

    async setAdminPassword({ body: { current, next }, caller }) {
      if (attempts.isFull(caller.address)) return { problem: 'too-many-requests' };
      const retryAfterS = attempts.begin(caller.address);
      if (retryAfterS !== null) return { ...TOO_MANY_ATTEMPTS, retryAfterS };
      if (!credentials.verify(credentials.username(), current)) {
        await attempts.delay(caller.address);
        return invalid('body.current', 'not the present password');
      }
      attempts.succeeded(caller.address);
      const set = await credentials.set(undefined, next, actorOf(caller));
      if (!set.ok) return invalid('body.next', PASSWORD_FAULTS[set.reason]);
      const { password: givenBy } = await credentials.givenBy();
      if (givenBy !== undefined)
        log.warn(
          { givenBy },
          'the admin password was changed, but the next start will set the given one again',
        );
      await consoleSessions.keepOnly(sessionOf(caller));
      return { status: 204 };
    },

    getEffectiveConfig: async () => ({ status: 200, body: await uses.effective() }),
  };
}

const PASSWORD_FAULTS = {
  'invalid-username': 'the user name cannot be used',
  'invalid-password': 'must be 1 to 255 bytes of UTF-8 and not only white space',
  'short-password': `must have at least ${MIN_ADMIN_PASSWORD_CHARACTERS} characters`,
} as const;

const CHANGED_MEANWHILE: ProblemAnswer = { problem: 'changed-meanwhile' };

function invalid(path: string, message: string): ProblemAnswer {
  return { problem: 'validation', errors: [{ path, message }] };
}
