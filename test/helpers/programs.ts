// Tests that need a program of the system: skipped with a word where it is missing, a failure under CI=true.
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A Python module that the system's own python3 must have. */
interface PythonModule {
  readonly pythonModule: string;
}

/** The options of a test that needs these programs. */
export function needs(...programs: readonly (string | PythonModule)[]): { skip: string | false } {
  const missing = programs.filter((program) => !isThere(program)).map(nameOf);
  if (missing.length === 0 || process.env['CI'] === 'true') return { skip: false };
  return { skip: `not installed: ${missing.join(', ')}` };
}

/** The full path of a program; sbin folders count too. Undefined when it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isThere(program: string | PythonModule): boolean {
  if (typeof program === 'string') return findProgram(program) !== undefined;
  try {
    execFileSync('/usr/bin/python3', ['-c', `import ${program.pythonModule}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function nameOf(program: string | PythonModule): string {
  return typeof program === 'string' ? program : `python3 module ${program.pythonModule}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
