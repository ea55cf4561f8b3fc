// The part of the configuration that webhooks and agents use.
import type { SignatureScheme } from '../core/agents/signatures.js';

/** A secret text. Only `reveal` returns it, so that no log or message contains it by accident. */
export interface Hidden {
  reveal(): string;
}

/** A secret, and during a change the previous one. Each is in the configuration or in a file. */
export interface SecretSettings {
  readonly secret: Hidden | null;
  readonly secretFile: string | null;
  readonly previousSecret: Hidden | null;
  readonly previousSecretFile: string | null;
}

export interface HookSettings extends SecretSettings {
  readonly enabled: boolean;
  readonly maxBodyBytes: number;
  readonly maxFailuresPerSource: number;
  readonly failureWindowMs: number;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly queue: { readonly perAgent: number; readonly total: number };
  readonly history: { readonly messages: number; readonly maxBytes: number };
  readonly agents: Readonly<Record<string, WebhookAgentSettings>>;
}

/** An agent that webhooks may trigger. */
export interface WebhookAgentSettings {
  readonly sessionKey: string | null;
  /** For a sender that signs its requests and sends no token. */
  readonly signature?: SignatureSettings | null;
}

export interface SignatureSettings extends SecretSettings {
  readonly scheme: SignatureScheme;
  readonly toleranceMs: number;
  /** Template of the message; null: the body is the message. */
  readonly message: string | null;
}

export type ChannelSettings =
  | { readonly type: 'none' }
  | { readonly type: 'log' }
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'http';
      readonly url: string;
      readonly secret: Hidden | null;
      readonly timeoutMs: number;
      readonly maxTries: number;
      readonly backoffMs: number;
    };

export interface CommonSettings {
  readonly timeoutMs: number;
  readonly idleAfterMs: number;
  readonly maxReplyBytes: number;
  readonly channel: ChannelSettings;
}

export type AgentSettings = CommonSettings &
  (
    | {
        readonly type: 'command';
        readonly command: readonly string[];
        /** null: a folder of its own in the data folder. */
        readonly cwd: string | null;
        /** Paths that it may read or change in addition; null: the configuration does not say. */
        readonly allow: { readonly read: readonly string[]; readonly write: readonly string[] } | null;
        readonly limits: {
          readonly memoryBytes: number;
          readonly processes: number;
          /** Processor time of a process; null: as much as fits into `timeout` on all processors. */
          readonly cpuMs: number | null;
        };
        /** Names of the nodes that may execute its runs; null: every node. */
        readonly nodes?: readonly string[] | null;
        readonly env: Readonly<Record<string, Hidden>>;
      }
    | {
        readonly type: 'socket';
        /** A Unix socket. */
        readonly path: string;
        readonly nodes?: readonly string[] | null;
      }
    | { readonly type: 'http'; readonly url: string; readonly apiKeyFile: string | null }
    | {
        readonly type: 'openai';
        /** The URL up to and including the version: `https://api.example/v1`. */
        readonly baseUrl: string;
        readonly model: string;
        readonly apiKeyFile: string | null;
        /** First message of every conversation; null: none. */
        readonly system: string | null;
        /** Maximum length of the model's answer, in tokens. */
        readonly maxTokens: number;
        /** Maximum length of the history in a request. Whichever limit is reached first applies. */
        readonly historyMessages: number;
        readonly historySizeBytes: number;
      }
  );
