// The native driver against the suite that every driver passes.
import { ioSuite } from './suite.js';

ioSuite('native');
