// Configuration as the rest of the program sees it: one typed value, or one error that says all that is wrong.
export type { Config } from './config/schema.js';
export { Secret } from './config/secret.js';
