// Tries an exit as a session would use it: judges, resolves, connects, sends one request, and reads the beginning of the answer.
import { parseIp } from '../../core/addresses/ip.js';
import {
  type ExitTrial,
  type ExitTrialRequest,
  MAX_ANSWER_BYTES,
  seenAddress,
} from '../../core/exits/exit-figures.js';
import { dial } from '../connection/dial.js';
import { permittedAddresses, refusalFields } from '../connection/target.js';
import type { Stream } from '../io/io.js';
import type { WorkerHost } from '../worker/host.js';
import { askUpstreams } from './ask.js';
import { leavingBy } from './exits.js';

/** In place of an account, for addresses and limits of lookups. */
const CLIENT = { accountId: 'exit-trial', source: 'exit-trial' };

/** Calls `done` once, at the latest after `connectTimeout` for each proxy and for the answer. */
export function tryExit(
  {
    io,
    exits,
    egressOf,
    resolve,
    settings,
  }: Pick<WorkerHost, 'io' | 'exits' | 'egressOf' | 'resolve' | 'settings'>,
  { exit: name, host, port, request }: ExitTrialRequest,
  done: (trial: ExitTrial) => void,
): void {
  const { connectTimeoutMs } = settings;
  const exit = exits.use(name, CLIENT.accountId);
  const egress = egressOf(null);
  const fail = (reason: string): void => done({ ok: false, reason });
  if (!exit || egress === null) return fail('unknown-exit');
  const isName = parseIp(host) === null;

  const goThrough = (asked: string, startedAt: number): void => {
    askUpstreams(
      {
        upstreams: exit.upstreams,
        exit,
        command: 'connect',
        destination: { host: asked, port },
        client: CLIENT,
        onConnected: (stream) => readAnswer(stream, Math.round(io.now() - startedAt)),
        onFailed: (_reply, reason) => fail(reason),
      },
      { io, resolve, exits, egress, connectTimeoutMs },
    );
  };

  const go = (found: readonly string[]): void => {
    const { permitted, refusal } = permittedAddresses(egress, found, isName ? host : null, port);
    const [first] = permitted;
    if (first === undefined) return fail(refusalFields(refusal).reason);
    const startedAt = io.now();
    if (exit.upstreams.length > 0)
      return goThrough(permitted.find((each) => !each.includes(':')) ?? first, startedAt);
    const addresses = leavingBy(exit, permitted);
    if (addresses.length === 0) return fail('exit-without-family');
    const onConnected = (stream: Stream): void => readAnswer(stream, Math.round(io.now() - startedAt));
    dial(io, { addresses, port, exit, timeoutMs: connectTimeoutMs, onConnected, onFailed: fail });
  };

  const readAnswer = (stream: Stream, connectMs: number): void => {
    const local = stream.local.address;
    let answer = '';
    const finish = (): void => {
      timer.clear();
      stream.close();
      done({ ok: true, local, connectMs, seen: seenAddress(answer) });
    };
    const timer = io.timer(connectTimeoutMs, finish);
    stream.listener = {
      onData(chunk) {
        answer += chunk.toString('latin1');
        if (answer.length >= MAX_ANSWER_BYTES) finish();
      },
      onEnd: finish,
      onFailed: finish,
    };
    stream.write(Buffer.from(request));
    stream.resume();
  };

  if (!isName) return go([host]);
  const verdict = egress.judgeName({ host, port });
  if (!verdict.ok && verdict.reason === 'denied-by-rule') return fail(verdict.reason);
  if (exit.upstreams[0]?.names === 'proxy')
    return verdict.ok ? goThrough(host, io.now()) : fail(verdict.reason);
  resolve(host, CLIENT, (result) => (result.ok ? go(result.addresses) : fail(`resolve-${result.reason}`)));
}
