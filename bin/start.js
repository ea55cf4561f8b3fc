// The part of the start that only a Node that is new enough can read.
'use strict';

const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

module.exports = async function start() {
  const program = await import(pathToFileURL(join(__dirname, '../dist/program/cli.js')).href);
  await program.main(process.argv);
};
