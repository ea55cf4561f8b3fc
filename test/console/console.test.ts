// The console in a real browser on a real daemon. All parts below share one browser and one daemon.
// Only by name: npm run test:console
import { before, describe } from 'node:test';
import { noBrowser } from '../helpers/console-browser.js';
import { startWorld, type World } from '../helpers/console-world.js';
import { suiteScope } from '../helpers/suite.js';
import { addressTests } from './address.js';
import { attackTests } from './attacks.js';
import { chartTests } from './charts.js';
import { fileTests } from './files.js';
import { interactionTests } from './interaction.js';
import { navigationTests } from './navigation.js';
import { pageTests } from './pages.js';
import { tableTests } from './tables.js';

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
  interactionTests(getWorld);
  navigationTests(getWorld);
  addressTests(getWorld);
  fileTests(getWorld);
  attackTests(getWorld);
});
