// `npm run dev`: runs the daemon of `npm start`, and rebuilds and restarts it whenever a source changes. Ctrl-C stops everything.
import { execFileSync, spawn } from 'node:child_process';

execFileSync(process.execPath, ['test/tools/build.mjs', 'program', 'console', 'player'], {
  stdio: 'inherit',
});

const bin = 'node_modules/.bin';
const children = [
  spawn(`${bin}/rolldown`, ['--config', 'test/tools/rolldown.config.mjs', '--watch'], { stdio: 'inherit' }),
  spawn(`${bin}/vite`, ['build', '--config', 'src/console/vite.config.ts', '--watch', '--logLevel', 'warn'], {
    stdio: 'inherit',
  }),
  spawn(
    `${bin}/vite`,
    ['build', '--config', 'src/console/vite.config.ts', '--mode', 'player', '--watch', '--logLevel', 'warn'],
    { stdio: 'inherit' },
  ),
  // Node restarts the daemon when a module that it has loaded changes, which is the output of Rolldown.
  spawn(
    process.execPath,
    ['--watch', '--watch-preserve-output', 'bin/pulsegate.js', 'serve', '--config', 'etc/pulsegate.dev.yaml'],
    { stdio: 'inherit' },
  ),
];

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0));
for (const child of children) child.on('exit', () => end(1));

function end(code) {
  for (const child of children) child.kill('SIGTERM');
  process.exitCode ??= code;
}
