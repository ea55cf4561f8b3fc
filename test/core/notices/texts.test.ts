// Texts of notices: sizes and dates as the console and the player page show them, in both languages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTICE_DEFAULTS } from '../../../src/core/notices/notice-settings.js';
import { textOf } from '../../../src/core/notices/texts.js';
import { withoutLinks } from '../../../src/core/text.js';

const NOW = Date.parse('2026-11-22T00:00:00Z');
const settings = { ...NOTICE_DEFAULTS, timeZone: 'Asia/Shanghai' };

test('a share of a quota is in decimal units, with three significant digits', () => {
  const textFor = (usedBytes: number, quotaBytes: number) => {
    const data = { username: 'anna', used: 85, usedBytes, quotaBytes };
    return textOf({ type: 'account.quota-80', data }, 'player', 'en', settings, NOW).text;
  };
  assert.match(textFor(42_500_000_000, 50_000_000_000), /85 % of its traffic \(42\.5 GB \/ 50\.0 GB\)/);
  assert.match(textFor(0, 999), /\(0 B \/ 999 B\)/);
  assert.match(textFor(1000, 999_499), /\(1\.00 kB \/ 999 kB\)/);
  assert.match(textFor(999_500, 2e15), /\(1\.00 MB \/ 2\.00 PB\)/);
});

test('an expiry is in the time zone of the settings, with the punctuation of the language', () => {
  const data = { username: 'anna', expiresAt: '2026-11-24T16:30:00Z' };
  const textIn = (language: 'zh' | 'en') =>
    textOf({ type: 'account.expiring', data }, 'player', language, settings, NOW).text;
  assert.equal(
    textIn('zh'),
    '您的账号 anna 将于 2026-11-25 00:30（Asia/Shanghai）到期（还有 3 天），请及时续费。',
  );
  assert.equal(
    textIn('en'),
    'Your account anna expires on 2026-11-25 00:30 (Asia/Shanghai) (3 days left). Renew it to keep using it.',
  );
});

test('a suspension says until when, and how to lift it', () => {
  const data = { username: 'anna', limit: 'connectionsPerMinute', until: '2026-11-24T16:30:00Z' };
  const of = (language: 'zh' | 'en') =>
    textOf({ type: 'account.suspended', data }, 'operator', language, settings, NOW);
  assert.match(
    of('en').text,
    /anna .* \(connectionsPerMinute\) .* until 2026-11-25 00:30 \(Asia\/Shanghai\);/,
  );
  assert.match(of('zh').text, /anna .*connectionsPerMinute.* 2026-11-25 00:30（Asia\/Shanghai）/);
  assert.equal(of('zh').subject, '账号 anna 已暂停');
});

test('an account at a limit was slowed or refused so many times', () => {
  const data = {
    username: 'anna',
    limit: 'connectionsPerMinute',
    slowed: 12,
    refused: 0,
    since: '2026-11-24T16:30:00Z',
  };
  const of = (language: 'zh' | 'en') =>
    textOf({ type: 'account.limited', data }, 'operator', language, settings, NOW).text;
  assert.match(of('en'), /^Account anna was slowed 12 times and refused 0 times since 2026-11-25 00:30 /);
  assert.match(of('zh'), /被减慢 12 次、拒绝 0 次（connectionsPerMinute）/);
});

test('a name becomes no link', () => {
  for (const [name, shown] of [
    ['anna_1-b', 'anna_1-b'],
    ['玩家 01', '玩家 01'],
    ['Mr. X', 'Mr. X'],
    ['WINNER! http://evil.example/a?b=c', 'WINNER! http[:]//evil[.]example/a?b=c'],
    ['www.evil.example', 'www[.]evil[.]example'],
    ['例子。中国', '例子[。]中国'],
    ['mailto:me@evil.example', 'mailto[:]me[@]evil[.]example'],
    ['@evil_bot', '[@]evil_bot'],
    ['ev\u200bil.example', 'evil[.]example'],
    ['x'.repeat(65), `${'x'.repeat(64)}…`],
    ['.'.repeat(3), '.[.].'],
  ] as const)
    assert.equal(withoutLinks(name, 64), shown, name);
  const data = { username: 'WINNER http://evil.example', expiresAt: '2026-11-24T16:30:00Z' };
  const notices = [
    { type: 'account.expiring', data },
    {
      type: 'accounts.digest',
      data: { expiring: 1, expired: 0, quota: 0, accounts: [{ type: 'account.expiring', ...data }] },
    },
    { type: 'run.failed', data: { agent: 'a', run: 'r', error: 'see http://evil.example' } },
  ] as const;
  for (const notice of notices)
    for (const language of ['zh', 'en'] as const)
      for (const recipient of ['player', 'operator'] as const) {
        const { subject, text } = textOf(notice, recipient, language, settings, NOW);
        assert.match(text, /http\[:\]\/\/evil\[\.\]example/);
        assert.doesNotMatch(`${subject} ${text}`, /:\/\/|evil\.example/);
      }
});
