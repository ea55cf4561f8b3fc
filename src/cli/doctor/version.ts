// `pulsegate doctor`: checks whether the daemon runs the installed version, and how old that is. It asks nobody outside.
import type { Config } from '../../config.js';
import { ageInDays, type Build, isOld, readBuild, readVersion } from '../../program.js';
import { daemonApi } from '../shared/api.js';
import type { Finding } from './finding.js';

/** @param now in ms */
export async function checkVersion(config: Config, now: number): Promise<Finding> {
  const me = await daemonApi(config)
    .call('GET /me')
    .catch(() => undefined);
  return versionFinding(readVersion(), me?.version ?? null, readBuild(), now);
}

/** @param running the version of the running daemon; null: none runs, or it may not be asked */
export function versionFinding(
  installed: string,
  running: string | null,
  build: Build | null,
  now: number,
): Finding {
  const check = 'version';
  if (running !== null && running !== installed)
    return {
      check,
      state: 'warn',
      text: `${installed} is installed, ${running} is running: restart the daemon`,
    };
  if (!build) return { check, state: 'ok', text: installed };
  const text = `${installed} of ${build.date.slice(0, 10)}, commit ${build.commit.slice(0, 12)}`;
  if (!isOld(build, now)) return { check, state: 'ok', text };
  return {
    check,
    state: 'warn',
    text: `${text}, ${ageInDays(build, now)} days old: look for a newer release`,
  };
}
