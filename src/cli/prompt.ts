// Asks on the terminal: passwords without echo, and before what cannot be undone.
import { createInterface } from 'node:readline';
import { CommandError, type Surroundings } from './command.js';

const MAX_PASSWORD_BYTES = 4096;

/**
 * A new password: from `--password-stdin`, or asked for twice on a terminal.
 * @throws CommandError (2) when there is neither
 */
export async function readNewPassword(
  around: Surroundings,
  fromStdin: boolean,
  otherwise: string,
): Promise<string> {
  if (fromStdin) return readPasswordFromStdin(around);
  if (!around.stdin.isTTY) throw new CommandError(otherwise, 2);
  const password = await askHidden(around, 'New password: ');
  if (password === '') throw new CommandError('No password was given; nothing was changed.');
  if (password !== (await askHidden(around, 'Again: '))) {
    throw new CommandError('The two passwords differ; nothing was changed.');
  }
  return password;
}

/** All of stdin as one password; the line break at its end is not part of it. */
async function readPasswordFromStdin({ stdin }: Surroundings): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > MAX_PASSWORD_BYTES) throw new CommandError('The password on stdin is too long.', 2);
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (password === '') throw new CommandError('There was no password on stdin.', 2);
  return password;
}

const ENTER = /[\r\n]/;
const BACKSPACE = /[\b\x7f]/;
const [CTRL_C, CTRL_D, CTRL_U] = ['\x03', '\x04', '\x15'];

function askHidden({ stdin, stderr }: Surroundings, question: string): Promise<string> {
  // Before the question: what is typed as soon as it is there must not be echoed.
  stdin.setRawMode?.(true);
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const finish = (settle: () => void) => {
      stdin.setRawMode?.(false);
      stdin.off('data', read).pause();
      stderr.write('\n');
      settle();
    };
    const read = (chunk: Buffer) => {
      for (const char of chunk.toString('utf8')) {
        if (ENTER.test(char) || char === CTRL_D) return finish(() => resolve(typed.join('')));
        if (char === CTRL_C) return finish(() => reject(cancelled()));
        if (BACKSPACE.test(char)) typed.pop();
        else if (char === CTRL_U) typed = [];
        else typed.push(char);
      }
    };
    stdin.on('data', read).resume();
  });
}

/**
 * Goes on only with `--yes` or a "yes" on the terminal.
 * @param what completes "This …", and says what is lost
 * @throws CommandError when it is not confirmed
 */
export async function confirm(around: Surroundings, yes: boolean, what: string): Promise<void> {
  if (yes) return;
  if (!around.stdin.isTTY) throw new CommandError(`${what} Add --yes to do it.`, 2);
  if (!(await isYes(around, `${what} Continue?`))) throw new CommandError('Nothing was changed.');
}

/** A question with yes and no on the terminal; an empty line is no. @throws CommandError (130) on Ctrl-C */
export async function isYes(around: Surroundings, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(around, `${question} [y/N] `)).trim());
}

/** A line from the terminal; the end of its input (Ctrl-D) is an empty one. @throws CommandError (130) on Ctrl-C */
function ask({ stdin, stderr }: Surroundings, question: string): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr });
  return new Promise<string>((resolve, reject) => {
    terminal.once('SIGINT', () => {
      stderr.write('\n');
      reject(cancelled());
    });
    terminal.once('close', () => {
      stderr.write('\n');
      resolve('');
    });
    terminal.question(question, (answer) => {
      terminal.removeAllListeners('close');
      resolve(answer);
    });
  }).finally(() => terminal.removeAllListeners('close').close());
}

function cancelled(): CommandError {
  return new CommandError('Cancelled; nothing was changed.', 130);
}
