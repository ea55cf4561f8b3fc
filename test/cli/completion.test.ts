// Shell completion: the output of the hidden command, and the script of each installed shell.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type CommandLine, commandLine } from '../helpers/command.js';
import { BIN, plainEnvironment } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

const MANUAL = new URL('../../../etc/man/pulsegate.1', import.meta.url);

const CASES: readonly (readonly [words: string[], completed: string[]])[] = [
  [['ac'], ['account']],
  [
    ['account', 'li'],
    ['list', 'limits', 'link'],
  ],
  [
    ['account', 'limits', ''],
    ['show', 'set', 'reset-usage'],
  ],
  [['--config', 'account', 'ad'], ['admin']],
  [['account', 'add', 'x', '--gen'], ['--generate']],
  [['account', 'list', '--conf'], ['--config']],
  [['run', 'list', '--status', 'f'], ['failed']],
  [
    ['token', 'create', 'x', '--scope', 'accounts:read', 'acc'],
    ['accounts:read', 'accounts:write'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['database', 'copy', '--t'], ['--to']],
  [['account', 'import', './f'], []],
  [['__c'], []],
];

describe('completion', () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope);
    const program = join(cli.folder, 'pulsegate');
    await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
    await chmod(program, 0o755);
  });

  async function inShell(shell: string, args: string[]): Promise<string[]> {
    const PATH = `${cli.folder}:${process.env['PATH']}`;
    const { stdout } = await promisify(execFile)(shell, args, {
      cwd: cli.folder,
      env: { ...plainEnvironment(), PATH },
    });
    return stdout.trimEnd().split('\n');
  }

  it('offers commands, options and values', async () => {
    for (const [words, completed] of CASES) {
      const { code, stdout } = await cli.run(['__complete', '--', ...words]);
      const found = stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
      assert.deepEqual([code, found.sort()], [0, [...completed].sort()], words.join(' '));
    }
  });

  it('offers no command and no option that the manual page lacks', async () => {
    const manual = (await readFile(MANUAL, 'utf8')).replaceAll('\\-', '-').replace(/\\f[BIR]/g, '');
    const offered = async (words: string[]) =>
      (await cli.run(['__complete', '--', ...words])).stdout.split('\n').map((line) => line.split('\t'));
    async function visit(command: readonly string[]): Promise<void> {
      for (const [option = ''] of await offered([...command, '--']))
        assert.match(manual, new RegExp(`${option}(?![a-z-])`), `${command.join(' ')} ${option}`);
      for (const [name = '', description = ''] of await offered([...command, ''])) {
        if (description === '') continue;
        assert.match(manual, new RegExp(`\\b${name}\\b`), [...command, name].join(' '));
        await visit([...command, name]);
      }
    }
    await visit([]);
  });

  it('refuses unknown shells', async () => {
    assert.match((await cli.run(['completion', 'csh'])).stderr, /Allowed choices are bash, zsh, fish/);
  });

  it('works in bash, also with a colon', needs('bash'), async () => {
    const script = `source <(pulsegate completion bash)
      for COMP_LINE in 'pulsegate acc' 'pulsegate token create x --scope accounts:r'; do
        COMP_POINT=\${#COMP_LINE}; _pulsegate; echo "\${COMPREPLY[@]}"
      done`;
    assert.deepEqual(await inShell('bash', ['--norc', '-c', script]), ['account', 'read']);
  });

  it('works in fish', needs('fish'), async () => {
    const script = 'pulsegate completion fish | source; complete -C "pulsegate account ad"';
    const [line] = await inShell('fish', ['--no-config', '-c', script]);
    assert.match(line ?? '', /^add\tadd an account/);
  });

  it('is valid for zsh', needs('zsh'), async () => {
    const script = 'compdef() { print $1 $2 }; source <(pulsegate completion zsh); whence -w _pulsegate';
    assert.deepEqual(await inShell('zsh', ['-f', '-c', script]), [
      '_pulsegate pulsegate',
      '_pulsegate: function',
    ]);
  });
});
