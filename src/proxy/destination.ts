// What a client asks for.

export type SessionCommand = 'connect' | 'bind' | 'udp-associate';

/** `host` is what the client asked for, `address` what was dialled ('' while unknown). */
export interface Destination {
  readonly host: string;
  readonly address: string;
  readonly port: number;
}
