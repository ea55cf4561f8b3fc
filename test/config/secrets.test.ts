// Secrets of the configuration are never shown: not printed, not logged, and not in a message about an error near them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { Secret, toPlain } from '../../src/config/units.js';
import { aboutOf, type Schema, shapeOf, unwrap } from '../../src/config/walk.js';
import { createLogger } from '../../src/log.js';
import { loadText, messageOf } from '../helpers/config-file.js';

const CANARY = 'hunter2-hunter2-hunter2-hunter2-hunter2';

/** Yields every leaf of the schema, including those in lists, maps and each type of a section. */
function* leaves(schema: Schema, at: string): Generator<{ at: string; schema: Schema }> {
  const inner = unwrap(schema);
  if (aboutOf(inner)) yield { at, schema: inner };
  else if (inner instanceof z.ZodArray) yield* leaves(inner.element, `${at}[]`);
  else if (inner instanceof z.ZodRecord) yield* leaves(inner.valueType, `${at}.*`);
  else if (inner instanceof z.ZodDiscriminatedUnion) {
    for (const option of inner.options) yield* leaves(option, at);
  } else
    for (const [key, child] of Object.entries(shapeOf(inner)))
      yield* leaves(child, at === '' ? key : `${at}.${key}`);
}

describe('the schema', () => {
  it('marks every key as secret whose name suggests a secret', () => {
    const secretName = /secret|passw|token|credential|connection$|(^|\.)env\.|apikey|privatekey/i;
    // File names, session keys and limits of tokens are not secrets.
    const publicName = /File$|sessionKey$|maxTokens$/;
    const unmarked = [...leaves(configSchema, '')]
      .filter(({ at }) => secretName.test(at) && !publicName.test(at))
      .filter(({ schema }) => !aboutOf(schema)?.secret)
      .map(({ at }) => at);
    assert.deepEqual(unmarked, []);
  });

  it('wraps the values of keys that it marks', () => {
    const marked = [...leaves(configSchema, '')].filter(({ schema }) => aboutOf(schema)?.secret);
    assert.ok(marked.length >= 3);
    const samples = ['whsec_aGVsbG8taGVsbG8taGVsbG8taGVsbG8=', 'postgres://me:word@db.example/name'];
    for (const { at, schema } of marked) {
      const read = samples.map((sample) => z.safeParse(schema, sample)).filter(({ success }) => success);
      assert.ok(read.length > 0 && read.every(({ data }) => data instanceof Secret), at);
    }
  });
});

const VALID = `
webhooks: { enabled: true, secret: ${CANARY}, previousSecret: ${CANARY}2 }
agents:
  a: { type: command, command: [x], env: { KEY: ${CANARY} }, channel: { type: http, url: "https://x.example/", secret: whsec_${CANARY.replaceAll('-', '')} } }
`;

describe('a configuration with secrets', () => {
  it('does not show them', async () => {
    const { config, asRead } = await loadText(VALID);
    const lines: string[] = [];
    createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(line) } }).info(
      { config },
      'configuration',
    );
    const shown = [
      stringify(toPlain(asRead)),
      JSON.stringify(config),
      JSON.stringify(asRead),
      inspect(config, { depth: 20, showHidden: true }),
      String(config.webhooks.secret),
      `${lines}`,
    ].join('\n');
    assert.doesNotMatch(shown, /hunter2/);
    assert.match(shown, /\(hidden\)/);
    assert.equal(config.webhooks.secret?.reveal(), CANARY);
  });
});

describe('a message about an error near a secret', () => {
  const INVALID: readonly (string | [yaml: string, env: Record<string, string>])[] = [
    `webhooks: { secert: ${CANARY} }`,
    `webhooks: { secret: [${CANARY}] }`,
    `webhooks: { secret: { x: ${CANARY} } }`,
    `webhooks: ${CANARY}`,
    `webhooks: [${CANARY}]`,
    `webhooks: { secret: *${CANARY} }`,
    `webhooks: { secret: !${CANARY} x }`,
    `webhooks: { secret: @${CANARY} }`,
    `webhooks: { secret: "${CANARY}\\q" }`,
    `webhooks: { secret: "${CANARY} }`,
    `webhooks: { secret: ${CANARY}, secret: ${CANARY}x }`,
    `webhooks: { secret: ${CANARY}: x: y }`,
    `webhooks:\n  secret: ${CANARY}\n   x: 1`,
    `webhooks: { secret: ${CANARY}, secretFile: x }`,
    `webhooks: { secret: "${CANARY.repeat(200)}" }`,
    `agents: { a: { type: command, command: [x], env: { KEY: [${CANARY}] } } }`,
    `agents: { a: { type: command, command: [x], channel: { type: http, url: "https://x/", secret: ${CANARY} } } }`,
    `agents: { a: { type: command, command: [x], channel: { type: htp, secret: ${CANARY} } } }`,
    `agents: { a: { type: comand, env: { KEY: ${CANARY} } } }`,
    `agents: { a: { type: http, url: "https://me:${CANARY}@x/" } }`,
    `agents: { a: { type: http, url: "https://me:${CANARY}/#@x/" } }`,
    `database: { client: "postgres://me:${CANARY}@x/db" }`,
    `admin: { host: "http://${CANARY}@x:1" }`,
    ['', { PULSEGATE_WEBHOOKS__SECERT: CANARY }],
    ['', { PULSEGATE_WEBHOOKS: CANARY }],
    ['', { PULSEGATE_WEBHOOKS: `{ secret: [${CANARY}] }` }],
    ['', { PULSEGATE_WEBHOOKS: `{ secret: ${CANARY}` }],
    ['', { PULSEGATE_AGENTS__A__CHANNEL__SECRET: CANARY }],
    ['', { PULSEGATE_ADMIN__PASSWORD: CANARY }],
    ['log: { level: x }', { PULSEGATE_ADMIN_PASSWORD: CANARY }],
  ];
  for (const item of INVALID) {
    it(`does not show the secret: ${JSON.stringify(item)}`, async () => {
      const [yaml, env] = typeof item === 'string' ? [item, {}] : item;
      assert.doesNotMatch(await messageOf(loadText(yaml, { env })), /hunter2/);
    });
  }
});
