// Loads the compiled command line. Only a supported Node version can parse this file.
'use strict';

const { join } = require('node:path');

const PROGRAM = join(__dirname, '../dist/program');

module.exports = async function start() {
  require('./flags.js');
  // First of all: sessions of the process before wait for the thread that this starts.
  const { HANDOVER_FDS, LISTEN_FDS } = process.env;
  const parcel =
    HANDOVER_FDS || LISTEN_FDS ? require(join(PROGRAM, 'parcel.js')).findParcel(process.env) : undefined;
  const program = require(join(PROGRAM, 'cli.js'));
  await program.main(process.argv, parcel ? Object.assign(process, { parcel }) : process);
};
