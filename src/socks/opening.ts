// How CONNECT and BIND begin: the destination is read and a session opened, or the client is refused.
import type { Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import type { SocksContext } from './context.js';
import type { SocksRequest } from './handshake.js';
import { Reply, type ReplyCode, replyFrame } from './protocol.js';
import { logRefusal, REPLY_BY_RESOLVE_FAILURE, refuse } from './refuse.js';
import { StreamSession } from './stream-session.js';
import { readTarget } from './target.js';

export interface Opening {
  readonly session: StreamSession;
  /** The destination as it is judged and shown: a name or an address. */
  readonly host: string;
  /** The same when it is a name; null when the client gave an address. */
  readonly name: string | null;
  /** Writes why the client does not get where it wants. */
  readonly log: (reason: string) => void;
  /** The session ends before it is relayed, and the client is told why. */
  readonly fail: (reply: ReplyCode, reason: string) => void;
  /** Goes on with the addresses of the destination; fails when there are none, and does nothing once the session has ended. */
  readonly resolve: (found: (addresses: readonly string[]) => void) => void;
}

/** Opens the session of a logged-in client's request; null when the client has been refused instead. */
export function openSession(
  command: 'connect' | 'bind',
  client: Socket,
  account: Account,
  request: SocksRequest,
  context: SocksContext,
): Opening | null {
  const { port } = request;
  const target = readTarget(request.addressType, request.address, context.allowUnderscore);
  const { host } = target;
  const log = (reason: string): void => logRefusal(context, account, client, { host, port }, reason);
  if (!target.ok) {
    log(target.reason);
    refuse(client, replyFrame(Reply.notAllowedByRuleset));
    return null;
  }

  const name = target.kind === 'name' ? host : null;
  const session = new StreamSession(context, command, account, client, { host, port });

  function resolve(found: (addresses: readonly string[]) => void): void {
    if (name === null) return found([host]);
    // A name that a rule denies is not even looked up. Anything else is decided on its addresses.
    const verdict = context.egress.judgeName({ host: name, port });
    if (!verdict.ok && verdict.reason === 'denied-by-rule') {
      return fail(Reply.notAllowedByRuleset, verdict.reason);
    }
    context.resolve(name, account.id, (result) => {
      if (session.isEnded) return;
      if (result.ok) found(result.addresses);
      else fail(REPLY_BY_RESOLVE_FAILURE[result.reason], `resolve-${result.reason}`);
    });
  }

  function fail(reply: ReplyCode, reason: string): void {
    log(reason);
    session.abandon();
    refuse(client, replyFrame(reply));
  }

  return { session, host, name, log, fail, resolve };
}
