// Flags of V8 for all threads. They are set before the first script is loaded and before a thread starts, because V8 refuses code that
// was kept with other flags than it is read with.
'use strict';

// The young generations are small: waking other threads to collect one costs more than it saves.
require('node:v8').setFlagsFromString('--no-parallel-scavenge');
