// The installation folder, the version and the build of the program.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryOr } from './core/errors.js';
import { DAY_MS } from './core/time/clock.js';

/** The folder of package.json. The path is the same from dist/program (the built program) and from dist/src (modules for tests). */
export const PROGRAM_FOLDER = resolve(import.meta.dirname, '../..');

/**
 * Returns the file of a thread, which starts from a file of its own.
 * @param path below `src`, without extension: `proxy/worker/thread`. The bundle has the same paths (test/tools/rolldown.config.mjs).
 */
export const threadUrl = (path: string): URL => new URL(`./${path}.js`, import.meta.url);

/** The version in package.json, such as `0.1.0`. After an upgrade it is the version of the new files, not of this process. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** The commit from which a package was built. */
export interface Build {
  readonly commit: string;
  /** The time of the commit: ISO 8601, UTC. */
  readonly date: string;
}

/** Null for a program built from a checkout: only packages have the file, which test/tools/pack.mjs writes. */
export function readBuild(): Build | null {
  const file = join(PROGRAM_FOLDER, 'dist/program/build.json');
  return tryOr(null, () => JSON.parse(readFileSync(file, 'utf8')) as Build);
}

/** The age of a package in whole days. @param now in ms */
export const ageInDays = ({ date }: Build, now: number): number =>
  Math.floor((now - Date.parse(date)) / DAY_MS);

/** Whether a newer release than this package probably exists, judged only by its age. */
export const isOld = (build: Build, now: number): boolean => ageInDays(build, now) >= OLD_DAYS;

const OLD_DAYS = 180;
