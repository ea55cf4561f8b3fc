// CONNECT, RFC 1928 §4 and §6: resolve, judge the addresses, dial exactly those, answer, relay.
import type { Socket } from 'node:net';
import type { Account } from '../core/account.js';
import { parseIp } from '../core/ip.js';
import { clientAddress } from './client-end.js';
import type { SocksContext } from './context.js';
import { dial } from './dial.js';
import type { SocksRequest } from './handshake.js';
import { Reply, type ReplyCode, replyForErrno, replyFrame } from './protocol.js';
import { refuse } from './refuse.js';
import type { ResolveResult } from './resolve.js';
import { StreamSession } from './stream-session.js';
import { formatDestination, readTarget } from './target.js';

/** How long one attempt runs alone before the next address is tried beside it, in ms (RFC 8305 §5). */
const ATTEMPT_DELAY_MS = 250;

const REPLY_BY_RESOLVE_FAILURE = {
  'not-found': Reply.hostUnreachable,
  timeout: Reply.hostUnreachable,
  'too-many': Reply.generalFailure,
} as const;

/** Serves one CONNECT of a logged-in client: ends in a relayed session, or in a refusal with the reply that says why. */
export function connect(
  client: Socket,
  account: Account,
  request: SocksRequest,
  context: SocksContext,
): void {
  const target = readTarget(request.addressType, request.address, context.allowUnderscore);
  if (!target.ok) {
    logRefusal(target.host, target.reason);
    return refuse(client, replyFrame(Reply.notAllowedByRuleset));
  }

  const { host } = target;
  const { port } = request;
  const session = new StreamSession(context, 'connect', account, client, { host, port });
  if (target.kind === 'address') judgeAndDial([host]);
  else context.resolve(host, account.id, resolved);

  function resolved(result: ResolveResult): void {
    if (session.isEnded) return;
    if (result.ok) return judgeAndDial(result.addresses);
    logRefusal(host, `resolve-${result.reason}`);
    fail(REPLY_BY_RESOLVE_FAILURE[result.reason]);
  }

  function judgeAndDial(addresses: readonly string[]): void {
    const permitted: string[] = [];
    let denied = 'no-address';
    for (const address of addresses) {
      const ip = parseIp(address);
      if (ip === null) continue;
      const verdict = context.egress.judge({
        host: target.ok && target.kind === 'name' ? host : null,
        ip,
        port,
      });
      if (verdict.ok) permitted.push(address);
      else denied = verdict.reason;
    }
    if (permitted.length === 0) {
      logRefusal(host, denied);
      return fail(Reply.notAllowedByRuleset);
    }
    const giveUp = dial({
      addresses: permitted,
      port,
      timeoutMs: context.connectTimeoutMs,
      attemptDelayMs: ATTEMPT_DELAY_MS,
      onConnected: connected,
      onFailed: (code) => {
        logRefusal(host, code);
        fail(replyForErrno(code));
      },
    });
    session.whileWaiting(giveUp);
  }

  function connected(upstream: Socket, address: string): void {
    const { localAddress = '', localPort = 0 } = upstream;
    // Known before the destination can see a byte, so that a management request through the proxy is recognised.
    context.outbound.add(localAddress, localPort);
    upstream.once('close', () => context.outbound.delete(localAddress, localPort));
    client.write(replyFrame(Reply.succeeded, localAddress, localPort));
    session.startRelay(upstream, address);
  }

  function fail(reply: ReplyCode): void {
    session.abandon();
    refuse(client, replyFrame(reply));
  }

  function logRefusal(asked: string, reason: string): void {
    context.log.info(
      {
        account: account.username,
        client: clientAddress(client),
        destination: formatDestination(asked, request.port),
        reason,
      },
      'destination refused',
    );
  }
}
