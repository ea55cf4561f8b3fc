// The destination of a client's request.

export type SessionCommand = 'connect' | 'bind' | 'udp-associate';

/** `host` is the host in the client's request, `address` the address of the connection ('' while unknown). */
export interface Destination {
  readonly host: string;
  readonly address: string;
  readonly port: number;
}
