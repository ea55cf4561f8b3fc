// Loads the compiled command line. Only a supported Node version can parse this file.
'use strict';

const { join } = require('node:path');

module.exports = async function start() {
  const program = require(join(__dirname, '../dist/program/cli.js'));
  await program.main(process.argv);
};
