#!/usr/bin/env node
// Starts the command line from the compiled program.
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/cli.js', import.meta.url);
if (existsSync(program)) {
  const { main } = await import(program.href);
  await main(process.argv);
} else {
  process.stderr.write('pulsegate is not built yet. Run: npm ci && npm run build\n');
  process.exitCode = 1;
}
