// The interface of `config/` for the rest of the program.

export { ConfigError, type Problem } from './config/config-error.js';
export { type Loaded, loadConfig } from './config/load.js';
export type { Config } from './config/schema.js';
export type { LoadOptions } from './config/sources.js';
export { readPem, readTlsFiles, type TlsFiles, type TlsPair } from './config/tls-files.js';
export { Secret } from './config/units.js';
