#!/usr/bin/env node
// Starts the command line from the compiled program, once it is sure that it can run here. Written in the JavaScript of 2009:
// a Node that is too old must be able to read it in order to say so.
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
    'needs Node ' +
    least[0] +
    ' or newer, and this is ' +
    process.versions.node +
    '. Get one: https://nodejs.org'
  );
}

function missing() {
  var fs = require('fs');
  if (fs.existsSync(path.join(root, 'dist', 'program', 'cli.js'))) return null;
  // A package comes with the program built; a clone of its sources does not.
  if (!fs.existsSync(path.join(root, 'src')))
    return 'lacks its own program (dist). Install the package again.';
  return 'is not built yet. Run: cd ' + root + ' && npm ci && npm run build';
}

function fail(text) {
  process.stderr.write('pulsegate ' + text + '\n');
  process.exitCode = 1;
}
