// Configuration as the rest of the program sees it: one typed value, or one error that says all that is wrong.

export { ConfigError, type Problem } from './config/config-error.js';
export { type Loaded, type LoadOptions, loadConfig } from './config/load.js';
export type { Config } from './config/schema.js';
export { Secret } from './config/secret.js';
export { readTlsFiles, type TlsFiles, type TlsPair } from './config/tls-files.js';
