#!/usr/bin/env node
// Checks the Node version and the build, then starts the compiled command line. Written in ES5, so that an old Node can
// parse it and print the error.
'use strict';

var path = require('path');
var description = require('../package.json');

var root = path.join(__dirname, '..');
var problem = tooOld() || missing();
if (problem) fail(problem);
else require('./start.js')();

function tooOld() {
  var least = /(\d+)\.(\d+)/.exec(description.engines.node);
  var own = /^(\d+)\.(\d+)/.exec(process.versions.node);
  var ahead = own[1] - least[1] || own[2] - least[2];
  if (ahead >= 0) return null;
  return (
    'requires Node ' +
    least[0] +
    ' or newer; this is Node ' +
    process.versions.node +
    '. Download: https://nodejs.org'
  );
}

function missing() {
  var fs = require('fs');
  if (fs.existsSync(path.join(root, 'dist', 'program', 'cli.js'))) return null;
  // A published package contains the built program (dist), and of src only documentation. A git clone contains its sources.
  if (!fs.existsSync(path.join(root, 'src', 'cli.ts')))
    return 'is incomplete: dist is missing. Reinstall the package.';
  return 'is not built yet. Run: cd ' + root + ' && npm ci && npm run build';
}

function fail(text) {
  process.stderr.write('pulsegate ' + text + '\n');
  process.exitCode = 1;
}
