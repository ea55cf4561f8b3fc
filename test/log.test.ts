// The log: one JSON object per line, with fields in a fixed order, without secrets and control characters.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLogger } from '../src/log.js';

function testLog(level = 'trace') {
  const lines: string[] = [];
  const log = createLogger({ level, destination: { write: (line: string) => void lines.push(line) } });
  const onlyLine = (): Record<string, unknown> => {
    assert.equal(lines.length, 1);
    return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  };
  return { log, lines, onlyLine };
}

describe('a log line', () => {
  it('starts with level, time and message, then the fields in their order', () => {
    const { log, lines } = testLog();
    log.warn({ client: '203.0.113.9', reason: 'wrong-password', username: 'x' }, 'login failed');
    const form =
      /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","msg":"login failed","client":"203\.0\.113\.9","reason":"wrong-password","username":"x"\}\n$/;
    assert.match(lines[0] ?? '', form);
  });

  it('for an error without a message has the message of the error', () => {
    const { log, onlyLine } = testLog();
    log.error(new Error('broken'));
    assert.equal(onlyLine()['msg'], 'broken');
  });

  it('is written only at or above the configured level', () => {
    const { log, lines } = testLog('warn');
    log.info({}, 'quiet');
    log.warn({}, 'loud');
    assert.equal(lines.length, 1);
  });

  it('hides fields with the names of secrets, at any depth', () => {
    const { log, lines } = testLog();
    const secret = 'hunter2';
    log.info(
      {
        password: secret,
        adminPassword: secret,
        passwordHash: secret,
        secret: { a: secret },
        headers: { authorization: secret, cookie: secret, 'set-cookie': secret, host: 'shown' },
        list: [{ token: secret, apiKey: secret }],
        err: Object.assign(new Error('broken'), { password: secret, cause: new Error('deep') }),
      },
      'x',
    );
    assert.doesNotMatch(lines.join(), /hunter2/);
    assert.match(lines.join(), /shown/);
    assert.match(lines.join(), /broken/);
  });

  it('cannot be forged by text of users', () => {
    const forged = 'x","msg":"login failed","client":"198.51.100.1\n{"level":"warn"';
    const { log, lines, onlyLine } = testLog();
    log.info({ username: forged, destination: 'a\x1b[31m\x9b\u202e\u2028' }, 'session ended');
    assert.equal(lines.join('').trimEnd().split('\n').length, 1);
    assert.equal(onlyLine()['msg'], 'session ended');
    assert.equal(onlyLine()['client'], undefined);
    assert.doesNotMatch(lines.join('').trimEnd(), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  });

  it('is one line of JSON with any fields', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true }), { maxKeys: 5 }),
        (fields) => {
          const { log, lines } = testLog();
          log.info(fields, 'message');
          const text = lines.join('');
          assert.equal(text.indexOf('\n'), text.length - 1);
          JSON.parse(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is written for fields that refer to themselves', () => {
    const { log, onlyLine } = testLog();
    const cyclic: Record<string, unknown> = {};
    cyclic['cyclic'] = cyclic;
    log.info(cyclic, 'x');
    assert.equal(onlyLine()['msg'], 'x');
  });

  it('has the type, message, code, cause and stack of an error', () => {
    const { log, onlyLine } = testLog();
    const error = Object.assign(new RangeError('outer\nline'), {
      code: 'E_OUTER',
      cause: new Error('inner'),
    });
    log.error({ err: error }, 'failed');
    const { type, message, code, stack, cause } = onlyLine()['err'] as Record<string, unknown>;
    assert.deepEqual([type, message, code], ['RangeError', 'outer\\x0aline', 'E_OUTER']);
    assert.match(String(stack), /^ {4}at /);
    assert.equal((cause as Record<string, unknown>)['message'], 'inner');
  });
});

describe('a line for the journal', () => {
  const PROGRAM = `
    const { createLogger } = await import(process.argv[1]);
    const log = createLogger({ level: 'trace' });
    for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) log[level]({}, level);
  `;

  /** Runs the program with a file as stdout; `named`: whether JOURNAL_STREAM names it. */
  function written(named: boolean): string[] {
    const file = join(tmpdir(), `pulsegate-journal-${process.pid}`);
    const fd = openSync(file, 'w+');
    try {
      const { dev, ino } = fstatSync(fd);
      const JOURNAL_STREAM = named ? `${dev}:${ino}` : `${dev}:${ino + 1}`;
      const module = new URL('../src/log.js', import.meta.url).href;
      spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM, module], {
        stdio: ['ignore', fd, 'inherit'],
        env: { ...process.env, JOURNAL_STREAM },
      });
      return readFileSync(file, 'utf8').trimEnd().split('\n');
    } finally {
      closeSync(fd);
      rmSync(file);
    }
  }

  it('has the priority of its level before it', () => {
    const priorities = written(true).map((line) => /^<(\d)>\{"level"/.exec(line)?.[1]);
    assert.deepEqual(priorities, ['2', '3', '4', '6', '7', '7']);
  });

  it('is unchanged when the output is not the journal that JOURNAL_STREAM names', () => {
    for (const line of written(false)) JSON.parse(line);
  });
});
