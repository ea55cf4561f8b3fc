// Forms of the console in a real browser on a real daemon. All parts below share one browser and one daemon.
// Only by name: npm run test:console
import { describe } from 'node:test';
import { noBrowser } from '../helpers/console-browser.js';
import { useFormConsole } from '../helpers/form-console.js';
import { accountFormTests } from './forms-accounts.js';
import { eventFormTests } from './forms-events.js';
import { exitFormTests } from './forms-exits.js';
import { keptFormTests } from './forms-kept.js';
import { sellingTests } from './forms-selling.js';
import { sharedFormTests } from './forms-shared.js';
import { storedFormTests } from './forms-stored.js';

describe('forms', { skip: noBrowser }, () => {
  const forms = useFormConsole();
  storedFormTests(forms);
  keptFormTests(forms);
  accountFormTests(forms);
  exitFormTests(forms);
  eventFormTests(forms);
  sharedFormTests(forms);
  sellingTests(forms);
});
