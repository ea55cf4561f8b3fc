// A session without a network, for tests of session observers. The test sets its byte counts.
import { randomUUID } from 'node:crypto';
import type { Session, SessionSummary } from '../../src/core/sessions/session.js';

export class FakeSession implements Session {
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command: Session['command'];
  readonly clientProtocol = 'socks5';
  readonly client = { address: '192.0.2.9', port: 50_000 };
  destination: Session['destination'];
  readonly openedAt = 0;
  gameId: string | null = null;
  via: string | null = null;
  exit: string | null = null;
  outgoing: Session['outgoing'] = null;
  readonly connectMs = null;
  bytesUp = 0;
  bytesDown = 0;
  /** The bytes transferred so far. */
  readonly traffic = { up: 0, down: 0 };

  constructor({
    id = randomUUID(),
    accountId = 'a1',
    username = 'player',
    command = 'connect',
    destination = { host: 'site.example', address: '198.51.100.1', port: 443 },
  }: Partial<Pick<Session, 'id' | 'accountId' | 'username' | 'command' | 'destination'>> = {}) {
    this.id = id;
    this.accountId = accountId;
    this.username = username;
    this.command = command;
    this.destination = destination;
  }

  get protocol(): 'tcp' | 'udp' {
    return this.command === 'udp-associate' ? 'udp' : 'tcp';
  }

  count(): boolean {
    const { up, down } = this.traffic;
    if (up === this.bytesUp && down === this.bytesDown) return false;
    this.bytesUp = up;
    this.bytesDown = down;
    return true;
  }

  get summary(): SessionSummary {
    const { up: bytesUp, down: bytesDown } = this.traffic;
    return { bytesUp, bytesDown, end: 'client-closed', durationMs: 1, gameId: this.gameId };
  }

  end(): void {}
}
