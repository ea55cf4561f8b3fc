// /api/v1/backup: the whole database as a file.
import { because } from '../../api/problem-reasons.js';
import { routesOf } from '../../api/route.js';
import { actorOf } from '../../caller.js';

const REFUSALS = { busy: 'backup-busy', 'not-a-file': 'backup-postgres' } as const;

const { route } = routesOf('Settings');

export const backupRoutes = [
  route('GET /api/v1/backup', 'downloadBackup', 'administrator', {
    summary: 'A complete copy of the database, for `pulsegate restore`; it contains password hashes.',
    needsConfirmation: true,
    responses: { 200: { description: 'The file.', contentType: 'application/vnd.sqlite3' } },
    problems: [409],
    async handle({ caller }, { backup, audit, now }) {
      const file = await backup();
      if (typeof file === 'string') return { problem: 'conflict', ...because(REFUSALS[file]) };
      const object = { type: 'settings', id: 'backup', name: 'backup' } as const;
      try {
        await audit.add([
          { by: actorOf(caller), action: 'backup.download', object, before: null, after: null },
        ]);
      } catch (error) {
        // The file has no name any more, and would take its space until the daemon stops.
        file.destroy();
        throw error;
      }
      const stamp = new Date(now()).toISOString().slice(0, 19).replaceAll(':', '');
      return {
        body: file,
        headers: {
          'Content-Type': 'application/vnd.sqlite3',
          'Content-Disposition': `attachment; filename="pulsegate-${stamp}Z.db"`,
        },
      };
    },
  }),
];
