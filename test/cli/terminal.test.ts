// Prompts of the command line on a terminal: passwords without echo, and confirmations.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import type { CommandIo } from '../../src/cli/shared/command.js';
import { readNewPassword } from '../../src/cli/shared/prompt.js';
import { type CommandLine, commandLine } from '../helpers/command.js';
import { BIN, plainEnvironment } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

/** Runs a command on a pseudo-terminal, types each answer after its question appears, and prints the whole output. */
const TERMINAL = `
import json, os, pty, sys
command, dialogue = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown = seen = ""
def read():
    global shown, seen
    try:
        chunk = os.read(fd, 4096).decode(errors="replace")
    except OSError:
        chunk = ""
    shown += chunk
    seen += chunk
    return chunk
for question, answer in dialogue:
    while question not in seen and read():
        pass
    seen = ""
    os.write(fd, answer.encode())
while read():
    pass
print(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

describe('on a terminal', needs('python3'), () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope);
  });

  async function runOnTerminal(
    args: string[],
    dialogue: [question: string, answer: string][],
    env: Record<string, string> = {},
  ) {
    const command = JSON.stringify([process.execPath, BIN, ...args]);
    const child = spawn('python3', ['-c', TERMINAL, command, JSON.stringify(dialogue)], {
      cwd: cli.folder,
      env: { ...plainEnvironment(), NO_COLOR: '', ...env },
    });
    const [shown] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code: child.exitCode, shown };
  }

  it('a password is asked for twice and never shown', async () => {
    const { code, shown } = await runOnTerminal(
      ['account', 'add', 'typed'],
      [
        ['New password: ', 'hunterX\u007f2\r'],
        ['Again: ', 'hunter2\r'],
      ],
    );
    assert.equal(code, 0, shown);
    assert.match(shown, /link +socks5h:\/\/typed@127\.0\.0\.1:1080 +\(without the password\)/);
    assert.doesNotMatch(shown, /hunter/);
  });

  it('both passwords may come at once, and the bytes of a character one by one', async () => {
    const twice = await runOnTerminal(
      ['account', 'add', 'pasted'],
      [['New password: ', 'hunter2\rhunter2\r']],
    );
    assert.equal(twice.code, 0, twice.shown);
    const { stdin, stderr } = { stdin: new PassThrough(), stderr: new PassThrough() };
    const io = { stdin: Object.assign(stdin, { isTTY: true }), stderr } as unknown as CommandIo;
    const password = readNewPassword(io, false);
    for (const byte of Buffer.from('密码\r密码\r')) stdin.write(Buffer.of(byte));
    assert.equal(await password, '密码');
  });

  it('two different passwords are refused', async () => {
    const { code, shown } = await runOnTerminal(
      ['admin', 'set-password'],
      [
        ['New password: ', 'one\r'],
        ['Again: ', 'two\r'],
      ],
    );
    assert.equal(code, 1);
    assert.match(shown, /The passwords do not match; nothing was changed/);
  });

  it('Ctrl-C exits every question with 130, Ctrl-D answers a confirmation with no; nothing changes', async () => {
    const { code, shown } = await runOnTerminal(
      ['account', 'add', 'never'],
      [['New password: ', 'half\u0003']],
    );
    assert.equal(code, 130);
    assert.match(shown, /Cancelled; nothing was changed/);
    await cli.run(['account', 'add', 'kept', '--generate']);
    assert.equal((await cli.run(['account', 'show', 'never'])).code, 1);
    const [interrupted, declined] = await Promise.all([
      runOnTerminal(['account', 'remove', 'kept'], [['Continue? [y/N] ', '\u0003']]),
      runOnTerminal(['account', 'remove', 'kept'], [['Continue? [y/N] ', '\u0004']]),
    ]);
    assert.equal(interrupted.code, 130);
    assert.match(interrupted.shown, /Cancelled; nothing was changed/);
    assert.equal(declined.code, 1);
    assert.match(declined.shown, /Nothing was changed/);
    assert.equal((await cli.run(['account', 'show', 'kept'])).code, 0);
  });

  it('irreversible commands ask for a confirmation', async () => {
    await cli.run(['account', 'add', 'ann', '--generate']);
    const no = await runOnTerminal(['account', 'remove', 'ann'], [['Continue? [y/N] ', '\r']]);
    assert.equal(no.code, 1);
    assert.match(no.shown, /Nothing was changed/);
    const yes = await runOnTerminal(['account', 'remove', 'ann'], [['Continue? [y/N] ', 'y\r']]);
    assert.equal(yes.code, 0);
    assert.match(yes.shown, /Removed ann/);
  });

  it('tables have a bold heading, unless NO_COLOR is set', async () => {
    assert.match((await runOnTerminal(['account', 'list'], [])).shown, /\x1b\[1mUSER NAME/);
    const plain = await runOnTerminal(['account', 'list'], [], { NO_COLOR: '1' });
    assert.match(plain.shown, /USER NAME/);
    assert.doesNotMatch(plain.shown, /\x1b/);
  });

  it('a backup is not written to the terminal', async () => {
    const { code, shown } = await runOnTerminal(['backup', '-'], []);
    assert.equal(code, 2);
    assert.match(shown, /binary data.*pulsegate backup FILE/);
  });
});
