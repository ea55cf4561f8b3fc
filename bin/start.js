// The part of the start that only a Node that is new enough can read.
'use strict';

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const root = join(__dirname, '..');

/** @param {(text: string) => void} fail says why pulsegate cannot run */
module.exports = async function start(fail) {
  let program;
  try {
    program = await import(pathToFileURL(join(root, 'dist/src/cli.js')).href);
  } catch (error) {
    const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) throw error;
    const install = existsSync(join(root, 'package-lock.json')) ? 'npm ci' : 'npm install --omit=dev';
    return fail(`lacks a package that it runs with (${name}). Run: cd ${root} && ${install}`);
  }
  await program.main(process.argv);
};
