// The installation folder, the version and the build of the program.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DAY_MS } from './core/clock.js';

/** The folder of package.json. The path is the same from dist/program (the built program) and from dist/src (modules for tests). */
export const PROGRAM_FOLDER = resolve(import.meta.dirname, '../..');

/** The version in package.json, as `0.1.0`. Once other files are installed, it is theirs, and no longer that of this process. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** What a package says of the commit that it was made of. */
export interface Build {
  readonly commit: string;
  /** The time of the commit: ISO 8601, UTC. */
  readonly date: string;
}

/** Null for a program that was built from a checkout: only packages have the file, which test/tools/pack.mjs writes. */
export function readBuild(): Build | null {
  try {
    return JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'dist/program/build.json'), 'utf8')) as Build;
  } catch {
    return null;
  }
}

/** The age of a package in whole days. @param now in ms */
export const ageInDays = ({ date }: Build, now: number): number =>
  Math.floor((now - Date.parse(date)) / DAY_MS);

/** Whether there is probably a newer release than a package of this age. Nothing asks the network for one. */
export const isOld = (build: Build, now: number): boolean => ageInDays(build, now) >= OLD_DAYS;

const OLD_DAYS = 180;
