// Imports the compiled command line. Only a supported Node version can parse this file.
'use strict';

const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

module.exports = async function start() {
  const program = await import(pathToFileURL(join(__dirname, '../dist/program/cli.js')).href);
  await program.main(process.argv);
};
