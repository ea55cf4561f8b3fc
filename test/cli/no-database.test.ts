// Commands that need existing data never create a database: in the wrong folder, an empty one would look like the daemon's.
import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type CommandLine, commandLine } from '../helpers/command.js';
import { suiteScope } from '../helpers/suite.js';

const COMMANDS: readonly (readonly string[])[] = [
  ['account', 'list'],
  ['account', 'list', '--json'],
  ['account', 'show', 'x'],
  ['account', 'update', 'x', '--disable'],
  ['account', 'remove', 'x', '--yes'],
  ['account', 'export'],
  ['account', 'import', '-', '--dry-run'],
  ['whitelist', 'show'],
  ['whitelist', 'set', '10.0.*'],
  ['whitelist', 'check', '10.0.0.1'],
  ['admin', 'second-factor-off'],
  ['agent', 'list'],
  ['agent', 'send', 'x', 'hello'],
  ['run', 'list'],
  ['run', 'show', 'x'],
  ['backup', '/nowhere/b.db'],
];

describe('without a database', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  let config: string;
  before(async () => {
    cli = await commandLine(scope);
    config = join(cli.folder, 'pulsegate.yaml');
    await writeFile(config, `dataDir: ${join(cli.folder, 'data')}\n`);
  });

  for (const args of COMMANDS) {
    it(`${args.join(' ')} creates no database and names the next step`, async () => {
      const { code, stdout, stderr } = await cli.run([...args, '--config', config]);
      assert.equal(code, 1);
      assert.equal(stdout, '');
      assert.ok(stderr.includes(`No database in ${join(cli.folder, 'data')} (dataDir of ${config}).`));
      assert.match(stderr, /--config FILE, or create a new database: pulsegate serve/);
      await assert.rejects(stat(join(cli.folder, 'data')));
    });
  }

  it('restore creates no folder for a backup that it cannot read', async () => {
    const { code, stderr } = await cli.run(['restore', '/nowhere/b.db', '--yes', '--config', config]);
    assert.equal(code, 1);
    assert.match(stderr, /cannot be read \(ENOENT\)\. Nothing was changed\./);
    await assert.rejects(stat(join(cli.folder, 'data')));
  });

  it('an empty file counts as no database', async () => {
    await writeFile(join(cli.folder, 'pulsegate.db'), '');
    const { code, stderr } = await cli.run(['account', 'list', '--config', config], {
      env: { PULSEGATE_DATA_DIR: cli.folder },
    });
    assert.equal(code, 1);
    assert.match(stderr, /^No database in/);
    assert.equal((await stat(join(cli.folder, 'pulsegate.db'))).size, 0);
  });

  it('account add, account import and admin set-password create a database', async () => {
    const file = join(cli.folder, 'in.csv');
    await writeFile(file, 'username,password\nann,one\n');
    const writers: [args: string[], stdin?: string][] = [
      [['account', 'add', 'x', '--generate']],
      [['account', 'import', file]],
      [['admin', 'set-password', '--password-stdin'], 'long enough'],
    ];
    for (const [index, [args, stdin = '']] of writers.entries()) {
      const env = { PULSEGATE_DATA_DIR: join(cli.folder, `new-${index}`) };
      const { code, stderr } = await cli.run([...args, '--config', config], { env, stdin });
      assert.equal(code, 0, stderr);
      const list = await cli.run(['account', 'list', '--config', config], { env });
      assert.equal(list.code, 0);
    }
  });
});
