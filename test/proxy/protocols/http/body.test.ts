// Bodies end where their framing says, with any chunk boundaries. Framing that another reader could read differently is malformed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { BodyReader, type Framing } from '../../../../src/proxy/protocols/http/body.js';

const CHUNKED: Framing = { kind: 'chunked' };
const MAX_TRAILER_BYTES = 64;

/** Returns how many bytes of all pieces belong to the body, and whether it is complete; null when it is malformed. */
function bodyOf(framing: Framing, pieces: readonly Buffer[]): { bytes: number; isDone: boolean } | null {
  const reader = new BodyReader(framing, MAX_TRAILER_BYTES);
  let bytes = 0;
  for (const piece of pieces) {
    const part = reader.take(piece);
    if (part === null) return null;
    bytes += part;
    if (reader.isDone) break;
  }
  return { bytes, isDone: reader.isDone };
}

const whole = (framing: Framing, text: string) => bodyOf(framing, [Buffer.from(text, 'latin1')]);
const eachByte = (framing: Framing, text: string) =>
  bodyOf(
    framing,
    [...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte])),
  );

it('a body of a known length ends after that length', () => {
  assert.deepEqual(whole({ kind: 'length', bytes: 3 }, 'abcGET'), { bytes: 3, isDone: true });
  assert.deepEqual(whole({ kind: 'length', bytes: 0 }, 'GET'), { bytes: 0, isDone: true });
  assert.deepEqual(whole({ kind: 'length', bytes: 9 }, 'abc'), { bytes: 3, isDone: false });
  assert.deepEqual(whole({ kind: 'until-close' }, 'abc'), { bytes: 3, isDone: false });
});

it('a chunked body ends after its trailer', () => {
  for (const body of [
    '0\r\n\r\n',
    '3\r\nabc\r\n0\r\n\r\n',
    '00000003\r\nabc\r\n0\r\n\r\n',
    'A;name=value;x="y z"\r\n0123456789\r\n00\r\n\r\n',
    '2 ;x\r\n\r\n\r\n0\r\n\r\n',
    '1\r\na\r\n0\r\nDigest: x\r\nY: z\r\n\r\n',
  ]) {
    const expected = { bytes: body.length, isDone: true };
    assert.deepEqual(whole(CHUNKED, `${body}GET `), expected, JSON.stringify(body));
    assert.deepEqual(eachByte(CHUNKED, `${body}GET `), expected, JSON.stringify(body));
  }
});

it('ambiguous framing is malformed', () => {
  for (const body of [
    '3\nabc\n0\n\n',
    '3\r\nabc0\r\n\r\n',
    '3\r\nabc\n0\r\n\r\n',
    '3\r\nabc\rx0\r\n\r\n',
    '3\r\nabcd\r\n0\r\n\r\n',
    '0x3\r\nabc\r\n0\r\n\r\n',
    '+3\r\nabc\r\n0\r\n\r\n',
    ' 3\r\nabc\r\n0\r\n\r\n',
    '3 \r\nabc\r\n0\r\n\r\n',
    '-1\r\n',
    '\r\n',
    '3;a\nb\r\nabc\r\n0\r\n\r\n',
    '3;\x00\r\nabc\r\n0\r\n\r\n',
    '1000000000000000\r\n',
    `3;${'x'.repeat(300)}\r\nabc`,
    '0\r\nno field\r\n\r\n',
    '0\r\n folded: x\r\n\r\n',
    `0\r\nX: ${'y'.repeat(MAX_TRAILER_BYTES)}\r\n\r\n`,
    '0\r\nGET / HTTP/1.1\r\n\r\n',
  ]) {
    assert.equal(whole(CHUNKED, body), null, JSON.stringify(body));
    assert.equal(eachByte(CHUNKED, body), null, JSON.stringify(body));
  }
});

it('a chunked body ends at the same byte with any chunk boundaries', () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 });
  fc.assert(
    fc.property(
      chunks,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.uint8Array({ maxLength: 9 }),
      (parts, cuts, next) => {
        const body = Buffer.concat([
          ...parts.flatMap((part) => [
            Buffer.from(`${part.length.toString(16)}\r\n`),
            part,
            Buffer.from('\r\n'),
          ]),
          Buffer.from('0\r\n\r\n'),
        ]);
        const bytes = Buffer.concat([body, next]);
        const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].sort(
          (a, b) => a - b,
        );
        const pieces = ends
          .map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
          .filter(({ length }) => length > 0);
        assert.deepEqual(bodyOf(CHUNKED, pieces), { bytes: body.length, isDone: true });
      },
    ),
  );
});
