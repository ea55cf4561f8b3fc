// The interface of `config/` for the rest of the program.

export { ConfigError, type Problem } from './config/config-error.js';
export { Secret } from './config/fields.js';
export { type Loaded, type LoadOptions, loadConfig } from './config/load.js';
export type { Config } from './config/schema.js';
export { readPem, readTlsFiles, type TlsFiles, type TlsPair } from './config/tls-files.js';
