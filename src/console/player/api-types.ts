// Made from the schema of the players’ page by test/helpers/console-api-types.ts; a test holds the two equal. Do not edit.
// biome-ignore-all format: made by a program
// biome-ignore-all lint: made by a program
export type Time = string;
export type AccountUsage = {
  readonly sessions: Count;
  readonly clientAddresses: Count;
  readonly periodBytes: Bytes;
  readonly periodStartedAt: Time | null;
  readonly periodEndsAt: Time | null;
  readonly totalBytesUp: Bytes;
  readonly totalBytesDown: Bytes;
};
export type Count = number;
export type Bytes = number;
export type Device = {
  readonly address: string;
  readonly isThis: boolean;
  readonly games: readonly (string)[];
  readonly since: Time;
  readonly sessions: Count;
  readonly bytesUp: Bytes;
  readonly bytesDown: Bytes;
};
export type Status = {
  readonly username: string;
  readonly isEnabled: boolean;
  readonly isExpired: boolean;
  readonly expiresAt: Time | null;
  readonly daysFromFirstLogin: number | null;
  readonly plan: string | null;
  readonly schedule: string | null;
  readonly isOutsideSchedule: boolean;
  readonly scheduleChangesAt: Time | null;
  readonly timeZone: string;
  readonly limits: {
    readonly maxSessions: number | null;
    readonly maxClientAddresses: number | null;
    readonly bytesPerSecondUp: number | null;
    readonly bytesPerSecondDown: number | null;
    readonly quotaBytes: number | null;
    readonly quotaPeriod: 'day' | 'week' | 'month' | 'never';
  };
  readonly usage: AccountUsage;
  readonly devices: readonly (Device)[];
  readonly link: string;
  readonly host: string;
  readonly port: number;
  readonly mayChange: readonly ('password' | 'authorizedAddresses')[];
  readonly minCharacters: Count;
  readonly authorizedAddresses: readonly (string)[];
  readonly maxAuthorizedAddresses: Count;
  readonly ownAddress: string | null;
  readonly pac: string | null;
  readonly mayMakePac: boolean;
  readonly now: Time;
};
