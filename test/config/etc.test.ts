// etc/pulsegate.yaml is the reference: it lists every key with its default and a comment of one line.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { configSchema } from '../../src/config/schema.js';
import { isPlainObject, toPlain } from '../../src/config/units.js';
import { everyKey, isGroup, valueAt } from '../../src/config/walk.js';
import { loadText } from '../helpers/config-file.js';
import { PROJECT } from '../helpers/daemon.js';

const read = (name: string) => readFile(join(PROJECT, 'etc', name), 'utf8');

describe('etc/pulsegate.yaml', () => {
  it('lists every key, and no other', async () => {
    const inSchema = [...everyKey(configSchema)].map(({ path }) => path.join('.')).sort();
    const inFile = [...keysIn(parse(await read('pulsegate.yaml')))].sort();
    assert.deepEqual(inFile, inSchema);
  });

  it('has the default of every key, in the format of the schema', async () => {
    const file: unknown = parse(await read('pulsegate.yaml'));
    const defaults = toPlain(configSchema.parse({}));
    for (const { path, schema } of everyKey(configSchema)) {
      if (
        isGroup(schema) &&
        isPlainObject(valueAt(file, path)) &&
        Object.keys(valueAt(file, path) as object).length > 0
      )
        continue;
      // The configuration always has a list of hosts.
      const value = path.at(-1) === 'host' ? [valueAt(file, path)] : valueAt(file, path);
      assert.deepEqual(value, valueAt(defaults, path), path.join('.'));
    }
  });

  it('explains every key in one line', async () => {
    const lines = (await read('pulsegate.yaml')).split('\n').filter((line) => /^ *\w+: \S/.test(line));
    const uncommented = lines.filter((line) => !/ # \S/.test(line) && !/^ {4,}|level:|days:/.test(line));
    assert.deepEqual(uncommented, []);
    assert.ok(lines.every((line) => line.length <= 170));
  });

  it('is valid, and means the defaults', async () => {
    const [{ config }, { config: defaults }] = [
      await loadText(await read('pulsegate.yaml')),
      await loadText(null),
    ];
    assert.deepEqual({ ...config, dataDir: '' }, { ...defaults, dataDir: '' });
  });

  it('has game rules that work once uncommented', async () => {
    // Replace the empty list `games: []` by the commented example below it.
    const text = (await read('pulsegate.yaml')).replace(
      /^ {2}games: \[\].*\n((?: {2}#.*\n)+)/m,
      (_, example: string) => example.replace(/^ {2}# /gm, '  '),
    );
    assert.match(text, /^ {2}games:\n {4}- id: arena/m);
    const { config } = await loadText(text);
    assert.deepEqual(config.heartbeats.games, [
      {
        id: 'arena',
        match: { hosts: ['*.arena.example', '203.0.113.0/24'], ports: [7000, '7100-7200'], protocol: 'tcp' },
        maxBytes: 4096,
      },
      { gameId: 'GAMEID=([A-Z0-9]{4,16});', match: { ports: [9000] }, maxBytes: 4096 },
    ]);
  });
});

describe('etc/pulsegate.dev.yaml', () => {
  it('allows private destinations and keeps all other defaults', async () => {
    const [{ config: dev }, { config: defaults }] = [
      await loadText(await read('pulsegate.dev.yaml')),
      await loadText(null),
    ];
    assert.equal(dev.egress.private, 'allow');
    assert.deepEqual({ ...dev, dataDir: '', egress: null }, { ...defaults, dataDir: '', egress: null });
  });
});

function* keysIn(value: unknown, at: readonly string[] = []): Generator<string> {
  if (!isPlainObject(value)) return;
  for (const [key, child] of Object.entries(value)) {
    yield [...at, key].join('.');
    yield* keysIn(child, [...at, key]);
  }
}
