// The steps of a handshake do not depend on how the network splits the peer's bytes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { HandshakeStep } from '../../../src/proxy/protocols/client-protocol.js';
import { Socks5Client } from '../../../src/proxy/protocols/socks5-client.js';
import { Socks5Handshake } from '../../../src/proxy/protocols/socks5-handshake.js';
import { greeting, login, request } from '../../helpers/socks-client.js';

/** Splits the bytes at these positions. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].sort((a, b) => a - b);
  return ends
    .map((end, i) => Buffer.from(bytes.subarray(ends[i - 1] ?? 0, end)))
    .filter(({ length }) => length > 0);
}

type Step = { readonly kind: string };
type Machine<S extends Step> = { feed(bytes: Buffer): void; next(): S };

/** Returns all steps except "more", and the bytes after the last step, joined as by a connection. */
function steps<S extends Step>(
  machine: Machine<S>,
  parts: readonly Buffer[],
  onStep: (step: S) => boolean,
): unknown[] {
  const all: unknown[] = [];
  let rest: Buffer[] | null = null;
  let hasEnded = false;
  const run = (): void => {
    for (let step = machine.next(); step.kind !== 'more'; step = machine.next()) {
      const { rest: after = null, ...fields } = step as S & { rest?: Buffer | null };
      all.push(JSON.stringify(fields));
      if (onStep(step)) continue;
      // Bytes after a refusal are ignored.
      hasEnded = true;
      if ('rest' in step) rest = after ? [after] : [];
      return;
    }
  };
  run();
  for (const part of parts) {
    if (hasEnded) (rest as Buffer[] | null)?.push(part);
    else {
      machine.feed(part);
      run();
    }
  }
  return [...all, rest && Buffer.concat(rest as Buffer[]).toString('hex')];
}

function serverSteps(parts: readonly Buffer[]): unknown[] {
  const machine = new Socks5Handshake();
  return steps<HandshakeStep>(machine, parts, (step) => {
    if (step.kind === 'login') machine.accept();
    return step.kind !== 'request' && step.kind !== 'refuse';
  });
}

const text = (maxLength: number) => fc.string({ minLength: 1, maxLength });
const host = fc.oneof(
  fc.constantFrom('192.0.2.1', '2001:db8::1', 'example.com'),
  fc.domain().filter((name) => name.length < 200),
);
const cuts = fc.array(fc.nat(), { maxLength: 12 });

it("a client's handshake has the same steps with any chunk boundaries", () => {
  fc.assert(
    fc.property(
      text(40),
      text(40),
      host,
      fc.integer({ min: 1, max: 3 }),
      fc.uint8Array({ maxLength: 30 }),
      cuts,
      (name, password, to, command, early, at) => {
        const bytes = Buffer.concat([
          greeting(0, 2),
          login(name, password),
          request(to, 4242, command),
          early,
        ]);
        const whole = serverSteps([bytes]);
        assert.equal(whole.length, 4, 'a method, a login, a request, and the bytes after it');
        assert.equal(whole.at(-1), Buffer.from(early).toString('hex'));
        assert.deepEqual(serverSteps(pieces(bytes, at)), whole);
      },
    ),
  );
});

it("an upstream proxy's replies have the same steps with any chunk boundaries", () => {
  const upstreamSteps = (parts: readonly Buffer[], command: 'connect' | 'associate') => {
    const machine = new Socks5Client({
      command,
      destination: { host: 'example.com', port: 80 },
      login: { username: 'name', password: 'word' },
    });
    return steps(machine, parts, (step) => step.kind === 'send');
  };
  const bound = fc.oneof(
    fc.constant(Buffer.from([1, 192, 0, 2, 1])),
    fc.constant(Buffer.from([4, ...Buffer.alloc(16, 7)])),
    fc.constant(Buffer.from([3, 4, 1, 2, 3, 4])),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(0, 2, 0xff),
      fc.constantFrom(0, 0, 1),
      bound,
      fc.uint8Array({ maxLength: 30 }),
      cuts,
      fc.constantFrom('connect', 'associate'),
      (method, status, end, early, at, command) => {
        const bytes = Buffer.concat([
          Buffer.from([5, method, ...(method === 2 ? [1, status] : []), 5, 0, 0]),
          end,
          Buffer.from([0, 80]),
          early,
        ]);
        assert.deepEqual(upstreamSteps(pieces(bytes, at), command), upstreamSteps([bytes], command));
      },
    ),
  );
});
