// Texts of the console: both languages have every used text, and no unused one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REASON_TEXTS as LINE_TEXTS } from '../../src/account-files/reasons.js';
import { AUDIT_ACTIONS } from '../../src/core/audit/audit.js';
import { EVENT_NAMES } from '../../src/core/notices/event-types.js';
import { REASON_TEXTS } from '../../src/http/api/problem.js';
import { FIELD_TEXTS } from '../../src/http/api/schemas.js';
import { routes } from '../../src/http/v1/routes.js';

const CONSOLE = fileURLToPath(new URL('../../../src/console', import.meta.url));

/** `'key': ['English', 'Chinese'],` in the files of locales/, in which a missing language is a type error. */
const TEXT = /^ {2}'?([\w.-]+)'?: \[\s*'((?:[^'\\]|\\.)*)',\s*'((?:[^'\\]|\\.)*)',?\s*\],$/gm;
const locales = join(CONSOLE, 'locales');
const texts = readdirSync(locales)
  .filter((name) => !/^(index|texts|api\.zh-CN|daemon\.zh-CN)\.ts$/.test(name))
  .flatMap((name) =>
    [...readFileSync(join(locales, name), 'utf8').matchAll(TEXT)].map(([, key = '', en = '', zh = '']) => ({
      key,
      en,
      zh,
    })),
  );

function sources(): string {
  return readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('locales') && name !== 'api-types.ts')
    .map((name) => readFileSync(join(CONSOLE, name), 'utf8'))
    .join('\n');
}

/** The Chinese of what the daemon says in English, by its code, of `FIELD_TEXTS`, `LINE_TEXTS`, `REASON_TEXTS`. */
const [shared, fieldTexts, lineTexts, reasonTexts] = readFileSync(join(locales, 'daemon.zh-CN.ts'), 'utf8')
  .split(/FIELD_TEXTS|LINE_TEXTS|REASON_TEXTS/)
  .map(
    (part) =>
      new Map(
        [
          ...part.matchAll(
            /^ {2}'?([\w-]+)'?:\s*(?:\[\s*'(?:[^'\\]|\\.)*',\s*)?'((?:[^'\\]|\\.)*)',?(?:\s*\],)?$/gm,
          ),
        ].map(([, code = '', zh = '']) => [code, zh]),
      ),
  ) as [Map<string, string>, Map<string, string>, Map<string, string>, Map<string, string>];
for (const [key, zh] of shared) for (const texts of [fieldTexts, lineTexts]) texts.set(key, zh);

const chinese = new Map(texts.map(({ key, zh }) => [key, zh]));
const english = new Map(texts.map(({ key, en }) => [key, en]));
const code = sources();

test('no key is in two files, of which one would hide the other', () => {
  assert.ok(texts.length > 300, `only ${texts.length} texts were read`);
  const keys = texts.map(({ key }) => key);
  assert.deepEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    [],
  );
});

test('a text has the same placeholders in both languages', () => {
  const names = (text: string) =>
    [...new Set([...text.matchAll(/\{(\w+)[:}]/g)].map(([, name]) => name))].sort();
  for (const [key, text] of chinese) assert.deepEqual(names(english.get(key) ?? ''), names(text), key);
});

test('no text is empty, and no English text contains Chinese', () => {
  for (const [key, text] of chinese) {
    assert.ok(text.trim() !== '', key);
    assert.ok(!/[\u4e00-\u9fff]/.test(english.get(key) ?? ''), `the English text ${key} contains Chinese`);
  }
});

test('every text is used', () => {
  const prefixes = [...code.matchAll(/(?:t\(|of=\{)`([\w.]+)\$\{/g)].map(([, prefix = '']) => prefix);
  assert.ok(prefixes.length > 5, 'the keys with a computed end were not found');
  const isNamed = (key: string) => code.includes(`'${key}'`) || code.includes(`"${key}"`);
  const unused = [...chinese.keys()].filter(
    (key) =>
      !isNamed(key) &&
      // What more is said of a field, of a filter, or of something that there is not.
      !(/\.(text|hint|wrong|between)$/.test(key) && code.includes(`of="${key.replace(/\.\w+$/, '')}"`)) &&
      !prefixes.some((prefix) => key.startsWith(prefix)) &&
      !AUDIT_ACTIONS.some((action) => key === `audit.${action}`),
  );
  assert.deepEqual(unused, []);
});

test('every used key exists', () => {
  const usedKeys = [...code.matchAll(/\bt\(\s*'([\w.-]+)'/g)].map(([, key = '']) => key);
  assert.ok(usedKeys.length > 200, `only ${usedKeys.length} uses were found`);
  assert.deepEqual(
    usedKeys.filter((key) => !chinese.has(key)),
    [],
  );
});

test('every action of the audit log has a text', () => {
  assert.ok(code.includes('textOf(`audit.${entry.action}`)'), 'the page of the audit log makes the key');
  for (const action of AUDIT_ACTIONS) {
    assert.ok(chinese.has(`audit.${action}`), action);
  }
});

test('every type of an event has a text', () => {
  for (const name of EVENT_NAMES)
    assert.ok(chinese.has(`notices.type.${name}`) || chinese.has(`audit.${name}`), name);
});

test('every reason for a failed line of an import has a Chinese text, and no other has', () => {
  assert.deepEqual([...lineTexts.keys()].sort(), Object.keys(LINE_TEXTS).sort());
  const values = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  for (const [code, text] of Object.entries(LINE_TEXTS))
    assert.deepEqual(values(lineTexts.get(code)), values(text), code);
});

test('every group of the API has a Chinese name', () => {
  const names = readFileSync(join(locales, 'api.zh-CN.ts'), 'utf8');
  for (const { tag } of routes) assert.match(names, new RegExp(`^ {2}'?${tag}'?: '`, 'm'), tag);
});

test('every error of a field has a Chinese text with the same values, and no other has', () => {
  assert.deepEqual([...fieldTexts.keys()].sort(), Object.keys(FIELD_TEXTS).sort());
  const values = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  for (const [code, text] of Object.entries(FIELD_TEXTS)) {
    assert.deepEqual(values(fieldTexts.get(code)).sort(), values(text).sort(), code);
  }
});

test('every reason of a refusal has a text in both languages, with the same values', () => {
  const values = (text = '') => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  for (const [code, text] of Object.entries(REASON_TEXTS)) {
    const shown = values(reasonTexts.get(code));
    assert.ok(reasonTexts.has(code), code);
    assert.ok(
      shown.every((name) => values(text).includes(name)),
      code,
    );
  }
});

test('no source of the console contains Chinese text outside the locale files', () => {
  const hardCoded = code
    .split('\n')
    .filter((line) => /[\u4e00-\u9fff]/.test(line) && !/^\s*(\/\/|\*|\/\*\*)/.test(line))
    // The name of a language is written in that language.
    .filter((line) => !line.includes("'中文'") && !/split\(/.test(line));
  assert.deepEqual(hardCoded, []);
});

test('Chinese sentences have full-width punctuation, and call an agent 智能体, because 代理 is a proxy', () => {
  for (const [key, text] of [...chinese, ...fieldTexts, ...lineTexts, ...reasonTexts]) {
    assert.match(text, /[^\s]/, key);
    const plain = text.replace(/\{\w+\}/g, '数');
    assert.doesNotMatch(plain, /[\u4e00-\u9fff] ?[,:;?!()]|[,:;?!()] ?[\u4e00-\u9fff]/, key);
    if (/^(nav|agents?|run|runs|agentSessions)\./.test(key)) assert.doesNotMatch(text, /代理/, key);
  }
});
