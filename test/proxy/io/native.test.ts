// The native driver passes the suite of all drivers.
import { ioSuite } from './suite.js';

ioSuite('native');
