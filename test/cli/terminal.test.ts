// What the command line asks on a terminal: passwords without echo, and before what cannot be undone.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { type CommandLine, commandLine } from '../helpers/command.js';
import { BIN, plainEnvironment } from '../helpers/daemon.js';
import { suiteScope } from '../helpers/suite.js';

/** Runs a command on a pseudo-terminal, types each answer once its question is there, and prints all that is shown. */
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

const isMissing = spawnSync('python3', ['--version']).error !== undefined;

describe('on a terminal', { skip: isMissing ? 'python3 is not installed' : false }, () => {
  const scope = suiteScope();
  let cli: CommandLine;
  before(async () => {
    cli = await commandLine(scope);
  });

  async function talk(args: string[], dialogue: [question: string, answer: string][]) {
    const command = JSON.stringify([process.execPath, BIN, ...args]);
    const child = spawn('python3', ['-c', TERMINAL, command, JSON.stringify(dialogue)], {
      cwd: cli.folder,
      env: plainEnvironment(),
    });
    const [shown] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code: child.exitCode, shown };
  }

  it('a password is asked for twice and never shown', async () => {
    const { code, shown } = await talk(
      ['account', 'add', 'typed'],
      [
        ['New password: ', 'hunterX\u007f2\r'],
        ['Again: ', 'hunter2\r'],
      ],
    );
    assert.equal(code, 0, shown);
    assert.match(shown, /link +socks5h:\/\/typed:hunter2@/);
    assert.equal(shown.split('hunter').length, 2);
  });

  it('a password that is typed differently changes nothing', async () => {
    const { code, shown } = await talk(
      ['admin', 'set-password'],
      [
        ['New password: ', 'one\r'],
        ['Again: ', 'two\r'],
      ],
    );
    assert.equal(code, 1);
    assert.match(shown, /The two passwords differ; nothing was changed/);
  });

  it('Ctrl-C leaves the question, and nothing changes', async () => {
    const { code, shown } = await talk(['account', 'add', 'never'], [['New password: ', 'half\u0003']]);
    assert.equal(code, 1);
    assert.match(shown, /Cancelled; nothing was changed/);
    assert.equal((await cli.run(['account', 'show', 'never'])).code, 1);
  });

  it('what cannot be undone is asked about', async () => {
    await cli.run(['account', 'add', 'doomed', '--generate']);
    const no = await talk(['account', 'remove', 'doomed'], [['Continue? [y/N] ', '\r']]);
    assert.equal(no.code, 1);
    assert.match(no.shown, /Nothing was changed/);
    const yes = await talk(['account', 'remove', 'doomed'], [['Continue? [y/N] ', 'y\r']]);
    assert.equal(yes.code, 0);
    assert.match(yes.shown, /doomed was removed/);
  });

  it('tables have a bold heading', async () => {
    assert.match((await talk(['account', 'list'], [])).shown, /\x1b\[1mUSER NAME/);
  });
});
