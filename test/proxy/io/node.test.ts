// The node engine passes the suite of all engines.
import { ioSuite } from './suite.js';

ioSuite('node');
