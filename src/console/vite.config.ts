// Builds the console into dist/console without inline scripts or styles, so that a strict CSP applies.
import { fileURLToPath } from 'node:url';
import { pageConfig } from './precompress.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default pageConfig(here('.'), here('../../dist/console'), here('./locales/index.ts'), { base: './' });
