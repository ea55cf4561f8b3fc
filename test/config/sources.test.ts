// The configuration that a process hands to its successor: used where the program, the file, the variables and the flags are the same.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fromHandedConfig, hashSources, toHandedConfig } from '../../src/config/sources.js';
import { loadText } from '../helpers/config-file.js';

/** As the state of a handover is written and read. */
const pass = <T>(value: T): T => JSON.parse(JSON.stringify(value));

const RICH = `
socks:
  upstreams: [{ match: { hosts: ['*.example.com'] }, proxy: 'proxy.example.com:1080', exit: far, username: us, password: secret pw }]
  listeners: [{ host: 127.0.0.1, port: 1081, protocols: [http] }]
egress: { classes: { guests: { allow: ['10.0.0.0/8'], guard: { destinationsPerMinute: 9 } } } }
heartbeats: { games: [{ gameId: chess, match: { ports: [5000] } }] }
timeZone: Asia/Shanghai
webhooks: { enabled: true, secret: 0123456789abcdef0123456789abcdef, agents: { one: {} } }
agents: { one: { type: command, command: ['true'], timeout: 5s } }
`;

describe('the configuration that is handed over', () => {
  it('is the same after it was handed over, with its secrets', async () => {
    for (const yaml of [null, RICH, await readFile('etc/pulsegate.yaml')]) {
      const { config } = await loadText(yaml);
      const handed = toHandedConfig('same', config);
      const taken = fromHandedConfig(pass(handed), 'same');
      assert.deepEqual(taken, config);
      const passwords = (upstreams = config.socks.upstreams) =>
        upstreams.map((each) => each.password?.reveal());
      assert.deepEqual(passwords(taken?.socks.upstreams), yaml === RICH ? ['secret pw'] : []);
    }
  });

  it('is not taken from a process with other sources, or of a version that handed none over', async () => {
    const { config } = await loadText(null);
    const handed = toHandedConfig('one', config);
    assert.equal(fromHandedConfig(handed, 'other'), null);
    assert.equal(fromHandedConfig(toHandedConfig(null, config), null), null);
    assert.equal(fromHandedConfig(undefined, 'one'), null);
  });

  it('has a hash that changes with the file, its name, a variable and a flag, and with nothing else', async (t) => {
    const cwd = await mkdtemp(join(tmpdir(), 'pulsegate-sources-'));
    t.after(() => rm(cwd, { recursive: true }));
    const file = join(cwd, 'a.yaml');
    await writeFile(file, 'socks: { port: 1 }');
    await writeFile(join(cwd, 'b.yaml'), 'socks: { port: 1 }');
    const given = { file, env: { OTHER: '1' }, cwd };
    const flags = [{ path: ['socks', 'port'], text: '2', where: 'flag --socks-port' }];
    const first = await hashSources(given);
    assert.equal(await hashSources({ ...given, env: { OTHER: '2' } }), first);
    const others = [
      await hashSources({ ...given, file: join(cwd, 'b.yaml') }),
      await hashSources({ ...given, env: { PULSEGATE_SOCKS__PORT: '2' } }),
      await hashSources({ ...given, flags }),
    ];
    await writeFile(file, `${await readFile(file, 'utf8')} `);
    others.push(await hashSources(given));
    assert.equal(new Set([first, ...others]).size, 5);
    assert.ok(![first, ...others].includes(null));
    assert.equal(await hashSources({ ...given, file: join(cwd, 'missing.yaml') }), null);
  });
});
