// The newest lines of the log: how many are kept, and which lines a filter returns.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecentLog, type RecentLogFilter } from '../../../src/core/stats/recent-log.js';
import { createLogger } from '../../../src/log.js';

const MEMORY_BYTES = 65_536;

const lineOf = (level: string, msg: string): string => `${JSON.stringify({ level, time: 'then', msg })}\n`;

function recentOf({ lines = 100, memoryBytes = MEMORY_BYTES } = {}) {
  const recent = createRecentLog({ lines, memoryBytes, startedAt: 1 });
  const read = (filter: RecentLogFilter = {}, limit = 100) => recent.read(filter, limit);
  /** The messages of the lines, newest first. */
  const messages = (filter: RecentLogFilter = {}, limit = 100) =>
    read(filter, limit).lines.map(({ text }) => (JSON.parse(text) as { msg: string }).msg);
  return { recent, read, messages };
}

describe('the recent log', () => {
  it('keeps the newest lines, up to the maximum number', () => {
    const { recent, read, messages } = recentOf({ lines: 3 });
    for (const msg of ['a', 'b', 'c']) recent.add(lineOf('info', msg));
    assert.deepEqual(messages(), ['c', 'b', 'a']);
    recent.add(lineOf('info', 'd'));
    assert.deepEqual(messages(), ['d', 'c', 'b']);
    assert.equal(read().total, 3);
  });

  it('keeps exactly the maximum number of bytes, and ignores a longer line', () => {
    const line = lineOf('info', 'x'.repeat(80));
    const { recent, read, messages } = recentOf({ memoryBytes: line.length * 2 });
    recent.add(line);
    recent.add(line);
    assert.equal(read().total, 2);
    recent.add(lineOf('info', 'y'));
    assert.deepEqual(messages(), ['y', 'x'.repeat(80)]);
    recent.add(lineOf('info', 'z'.repeat(80 + line.length)));
    assert.equal(read().total, 1);
    recent.add(lineOf('info', 'z'.repeat(81 + line.length)));
    assert.deepEqual(messages(), ['z'.repeat(80 + line.length)]);
  });

  it('returns every line unchanged at any position in its memory', () => {
    const { recent, messages } = recentOf({ lines: 7, memoryBytes: 500 });
    const written: string[] = [];
    for (let i = 0; i < 300; i += 1) {
      const text = `玩家 ${i} ${'é'.repeat(i % 23)}`;
      written.unshift(text);
      recent.add(lineOf('warn', text));
      const shown = messages();
      assert.ok(shown.length > 0);
      assert.deepEqual(shown, written.slice(0, shown.length));
    }
  });

  it('filters by level, by words, and by the ids before or after which lines are wanted', () => {
    const { recent, read, messages } = recentOf();
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
      recent.add(lineOf(level, `Login of ${level} Alice`));
    assert.deepEqual(
      read({ level: 'warn' }).lines.map(({ level }) => level),
      ['fatal', 'error', 'warn'],
    );
    assert.deepEqual(messages({ search: 'ALICE warn' }), ['Login of warn Alice']);
    assert.deepEqual(messages({ search: 'alice nobody' }), []);
    const [newest, , third] = read().lines;
    assert.deepEqual(messages({ before: newest?.id ?? 0 }, 1), ['Login of error Alice']);
    assert.equal(messages({ after: third?.id ?? 0 }).length, 2);
    const { matched, total, lines } = read({ level: 'info', search: 'login' }, 1);
    assert.deepEqual([matched, total, lines.length], [4, 6, 1]);
  });

  it('gives later lines higher ids, also after a restart', () => {
    const [before, after] = [1_000, 1_001].map((startedAt) =>
      createRecentLog({ lines: 2, memoryBytes: MEMORY_BYTES, startedAt }),
    );
    for (let i = 0; i < 5; i += 1) before?.add(lineOf('info', 'x'));
    after?.add(lineOf('info', 'x'));
    const ids = [...(before?.read({}, 9).lines ?? []), ...(after?.read({}, 9).lines ?? [])].map(
      ({ id }) => id,
    );
    assert.equal(ids.length, 3);
    assert.ok((ids[2] ?? 0) > (ids[0] ?? 0) && (ids[0] ?? 0) > (ids[1] ?? 0), ids.join());
  });

  it('has the same lines as the log, with the log level applied and secrets hidden', () => {
    const { recent, read } = recentOf();
    const out: string[] = [];
    const destination = { write: (line: string) => void out.push(line) };
    const log = createLogger({ level: 'info', destination, recent });
    log.debug({}, 'quiet');
    log.info({ password: 'hunter2', client: '203.0.113.9' }, 'x');
    const { lines } = read();
    assert.deepEqual(
      lines.map(({ text }) => text),
      out,
    );
    assert.equal(lines.length, 1);
    assert.doesNotMatch(out.join(), /hunter2/);
  });
});
