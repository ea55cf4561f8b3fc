// Prompts on the terminal: passwords without echo, and confirmations.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandError, type CommandIo, wrongUsage } from './command.js';

const MAX_PASSWORD_BYTES = 4096;

/**
 * Reads a new password from stdin, or prompts twice on a terminal.
 * @param instead the options that need no terminal
 * @throws CommandError (2) when stdin is neither
 */
export async function readNewPassword(
  io: CommandIo,
  passwordStdin: boolean | undefined,
  instead = '--password-stdin',
): Promise<string> {
  if (passwordStdin) return readPasswordFromStdin(io);
  if (!io.stdin.isTTY)
    throw wrongUsage(`Cannot prompt for a password: stdin is not a terminal. Use ${instead}.`);
  return onTerminal(io, true, async (ask) => {
    const password = await ask('New password: ');
    if (password === '') throw new CommandError('The password is empty; nothing was changed.');
    if (password !== (await ask('Again: ')))
      throw new CommandError('The passwords do not match; nothing was changed.');
    return password;
  });
}

/** Reads all of stdin as one password, without a trailing line break. */
async function readPasswordFromStdin({ stdin }: CommandIo): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > MAX_PASSWORD_BYTES) throw wrongUsage('The password on stdin is too long.');
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (password === '') throw wrongUsage('Stdin contains no password.');
  return password;
}

/**
 * Returns only after `--yes` or a "yes" on the terminal.
 * @param what a sentence that says what will be changed or lost
 * @throws CommandError when the operator does not confirm
 */
export async function confirm(io: CommandIo, yes: boolean | undefined, what: string): Promise<void> {
  if (yes) return;
  if (!io.stdin.isTTY) throw wrongUsage(`${what} Use --yes to confirm.`);
  if (!(await isYes(io, `${what} Continue?`))) throw new CommandError('Nothing was changed.');
}

/** Asks a yes/no question on the terminal; an empty line means no. @throws CommandError (130) on Ctrl-C */
export async function isYes(io: CommandIo, question: string): Promise<boolean> {
  const answer = await onTerminal(io, false, (ask) => ask(`${question} [y/N] `));
  return /^y(es)?$/i.test(answer.trim());
}

/**
 * Calls `work` with a function that asks a question and returns the line that is typed; '' for Ctrl-D.
 * @param isHidden whether the terminal must not show what is typed
 * @throws CommandError (130) on Ctrl-C
 */
async function onTerminal<Result>(
  { stdin, stderr }: CommandIo,
  isHidden: boolean,
  work: (ask: (question: string) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  // Turns the echo off before a question appears.
  const terminal = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  // One for all questions: what is pasted may answer the next one too.
  const lines = terminal[Symbol.asyncIterator]();
  const cancelled = new Promise<never>((_resolve, reject) => {
    terminal.once('SIGINT', () => {
      stderr.write('\n');
      reject(new CommandError('Cancelled; nothing was changed.', 130));
    });
  });
  const ask = async (question: string): Promise<string> => {
    if (isHidden) stderr.write(question);
    terminal.setPrompt(question);
    terminal.prompt();
    const { value = '', done } = await Promise.race([lines.next(), cancelled]);
    if (isHidden || done) stderr.write('\n');
    return value;
  };
  return work(ask).finally(() => terminal.close());
}

export const PASSWORD_STDIN = { passwordStdin: '--password-stdin  read the password from stdin' } as const;
export const KEEP_TOKENS = {
  keepTokens: '--keep-tokens  keep the API tokens valid; otherwise a new password revokes them',
} as const;
