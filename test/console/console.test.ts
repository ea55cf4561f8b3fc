// The console in a real browser on a real daemon: one of each for every part below.
// Only by name: npm run test:console
import { before, describe } from 'node:test';
import { noBrowser } from '../helpers/console-browser.js';
import { startWorld, type World } from '../helpers/console-world.js';
import { suiteScope } from '../helpers/suite.js';
import { addressTests } from './address.js';
import { attackTests } from './attacks.js';
import { chartTests } from './charts.js';
import { fileTests } from './files.js';
import { pageTests } from './pages.js';
import { tableTests } from './tables.js';
import { useTests } from './use.js';
import { wayTests } from './ways.js';

describe('the console', { skip: noBrowser }, () => {
  const scope = suiteScope();
  let world: World;
  before(async () => {
    world = await startWorld(scope);
  });
  const getWorld = (): World => world;
  pageTests(getWorld);
  chartTests(getWorld);
  tableTests(getWorld);
  useTests(getWorld);
  wayTests(getWorld);
  addressTests(getWorld);
  fileTests(getWorld);
  attackTests(getWorld);
});
