// The log as a reader sees it: one JSON object a line, in a fixed order, without secrets or control bytes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLogger } from '../src/log.js';

function logged(level = 'trace') {
  const lines: string[] = [];
  const log = createLogger({ level, destination: { write: (line: string) => void lines.push(line) } });
  const only = (): Record<string, unknown> => {
    assert.equal(lines.length, 1);
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  };
  return { log, lines, only };
}

describe('a log line', () => {
  it('starts with level, time and message, then the fields in their order', () => {
    const { log, lines } = logged();
    log.warn({ client: '203.0.113.9', reason: 'wrong-password', username: 'x' }, 'login failed');
    const form =
      /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","msg":"login failed","client":"203\.0\.113\.9","reason":"wrong-password","username":"x"\}\n$/;
    assert.match(lines[0] ?? '', form);
  });

  it('of an error alone has its message', () => {
    const { log, only } = logged();
    log.error(new Error('broken'));
    assert.equal(only()['msg'], 'broken');
  });

  it('is written only from its level on', () => {
    const { log, lines } = logged('warn');
    log.info({}, 'quiet');
    log.warn({}, 'loud');
    assert.equal(lines.length, 1);
  });

  it('hides what is named like a secret, at any depth', () => {
    const { log, lines } = logged();
    const hunter = 'hunter2';
    log.info(
      {
        password: hunter,
        adminPassword: hunter,
        passwordHash: hunter,
        secret: { a: hunter },
        headers: { authorization: hunter, cookie: hunter, 'set-cookie': hunter, host: 'shown' },
        list: [{ token: hunter, apiKey: hunter }],
        err: Object.assign(new Error('broken'), { password: hunter, cause: new Error('deep') }),
      },
      'x',
    );
    assert.doesNotMatch(lines.join(), /hunter2/);
    assert.match(lines.join(), /shown/);
    assert.match(lines.join(), /broken/);
  });

  it('cannot be forged by what others write', () => {
    const forged = 'x","msg":"login failed","client":"198.51.100.1\n{"level":"warn"';
    const { log, lines, only } = logged();
    log.info({ username: forged, destination: 'a\x1b[31m\x9b\u202e\u2028' }, 'session ended');
    assert.equal(lines.join('').trimEnd().split('\n').length, 1);
    assert.equal(only()['msg'], 'session ended');
    assert.equal(only()['client'], undefined);
    assert.doesNotMatch(lines.join('').trimEnd(), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  });

  it('is one line of JSON whatever the fields are', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true }), { maxKeys: 5 }),
        (fields) => {
          const { log, lines } = logged();
          log.info(fields, 'message');
          const text = lines.join('');
          assert.equal(text.indexOf('\n'), text.length - 1);
          JSON.parse(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('ends with fields that refer to themselves', () => {
    const { log, only } = logged();
    const round: Record<string, unknown> = {};
    round['round'] = round;
    log.info(round, 'x');
    assert.equal(only()['msg'], 'x');
  });

  it('tells of an error: type, message, code, cause, and where', () => {
    const { log, only } = logged();
    const error = Object.assign(new RangeError('outer\nline'), {
      code: 'E_OUTER',
      cause: new Error('inner'),
    });
    log.error({ err: error }, 'failed');
    const { type, message, code, stack, cause } = only()['err'] as Record<string, unknown>;
    assert.deepEqual([type, message, code], ['RangeError', 'outer\\x0aline', 'E_OUTER']);
    assert.match(String(stack), /^ {4}at /);
    assert.equal((cause as Record<string, unknown>)['message'], 'inner');
  });

  it('takes an error alone', () => {
    const { log, only } = logged();
    log.error(new Error('alone'));
    assert.match(JSON.stringify(only()), /alone/);
  });
});
