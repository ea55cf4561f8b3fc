// The stream engine against the suite every engine passes.
import { createStreamRelay } from '../../src/relay/stream.js';
import { engineSuite } from './engine-suite.js';

engineSuite('stream engine', async () => ({ engine: createStreamRelay(), close: async () => {} }));
