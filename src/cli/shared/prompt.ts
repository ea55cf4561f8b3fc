// Prompts on the terminal: passwords without echo, and confirmations.
import { createInterface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { CommandError, type CommandIo } from './command.js';

const MAX_PASSWORD_BYTES = 4096;

/**
 * Reads a new password from stdin, or prompts twice on a terminal.
 * @param instead the options that need no terminal
 * @throws CommandError (2) when stdin is neither
 */
export async function readNewPassword(
  io: CommandIo,
  { passwordStdin }: { readonly passwordStdin: boolean | undefined },
  instead = '--password-stdin',
): Promise<string> {
  if (passwordStdin) return readPasswordFromStdin(io);
  if (!io.stdin.isTTY)
    throw new CommandError(`Cannot prompt for a password: stdin is not a terminal. Use ${instead}.`, 2);
  const password = await askHidden(io, 'New password: ');
  if (password === '') throw new CommandError('The password is empty; nothing was changed.');
  if (password !== (await askHidden(io, 'Again: '))) {
    throw new CommandError('The passwords do not match; nothing was changed.');
  }
  return password;
}

/** Reads all of stdin as one password, without a trailing line break. */
async function readPasswordFromStdin({ stdin }: CommandIo): Promise<string> {
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
  if (password === '') throw new CommandError('Stdin contains no password.', 2);
  return password;
}

const ENTER = /[\r\n]/;
const BACKSPACE = /[\b\x7f]/;
const [CTRL_C, CTRL_D, CTRL_U] = ['\x03', '\x04', '\x15'];

function askHidden({ stdin, stderr }: CommandIo, question: string): Promise<string> {
  // Turn the echo off before the prompt appears.
  stdin.setRawMode?.(true);
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    const finish = (settle: () => void) => {
      stdin.setRawMode?.(false);
      stdin.off('data', read).pause();
      stderr.write('\n');
      settle();
    };
    // The bytes of a character may come in several chunks, and a chunk may answer the next question too.
    const decoder = new StringDecoder('utf8');
    const read = (chunk: Buffer) => {
      const chars = [...decoder.write(chunk)];
      for (const [index, char] of chars.entries()) {
        if (char === CTRL_C) return finish(() => reject(cancelled()));
        if (ENTER.test(char) || char === CTRL_D) {
          finish(() => resolve(typed.join('')));
          return stdin.unshift(Buffer.from(chars.slice(index + 1).join('')));
        }
        typed = edited(typed, char);
      }
    };
    stdin.on('data', read).resume();
  });
}

/** What is typed after one more character. */
function edited(typed: readonly string[], char: string): readonly string[] {
  if (BACKSPACE.test(char)) return typed.slice(0, -1);
  return char === CTRL_U ? [] : [...typed, char];
}

/**
 * Returns only after `--yes` or a "yes" on the terminal.
 * @param what a sentence that says what will be changed or lost
 * @throws CommandError when the operator does not confirm
 */
export async function confirm(io: CommandIo, yes: boolean | undefined, what: string): Promise<void> {
  if (yes) return;
  if (!io.stdin.isTTY) throw new CommandError(`${what} Use --yes to confirm.`, 2);
  if (!(await isYes(io, `${what} Continue?`))) throw new CommandError('Nothing was changed.');
}

/** Asks a yes/no question on the terminal; an empty line means no. @throws CommandError (130) on Ctrl-C */
export async function isYes(io: CommandIo, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(io, `${question} [y/N] `)).trim());
}

/** Reads a line from the terminal; Ctrl-D returns an empty one. @throws CommandError (130) on Ctrl-C */
function ask({ stdin, stderr }: CommandIo, question: string): Promise<string> {
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

export const PASSWORD_STDIN = { '--password-stdin': 'read the password from stdin' } as const;
/** Help of an option of commands that set a password. */
export const KEEP_TOKENS = 'keep the API tokens valid; otherwise a new password revokes them';
