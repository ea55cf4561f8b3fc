// Sources of configuration values (defaults, file, environment, flags, in this order), and their conversion.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseDuration, parseSize } from '../../src/config/units.js';
import { runVariables } from '../../src/core/agents/run-store.js';
import { loadText, messageOf } from '../helpers/config-file.js';

const flag = (text: string) => [{ path: ['socks', 'port'], text, where: 'flag --socks-port' }];

describe('a value of the configuration', () => {
  it('has its default without a file', async () => {
    const { config, file } = await loadText(null);
    assert.equal(file, null);
    assert.equal(config.socks.port, 1080);
    assert.deepEqual(config.admin.host, ['localhost']);
  });

  it('comes from a flag, else from the environment, else from the file', async () => {
    const yaml = 'socks: { port: 1 }';
    const env = { PULSEGATE_SOCKS__PORT: '2' };
    assert.equal((await loadText(yaml)).config.socks.port, 1);
    assert.equal((await loadText(yaml, { env })).config.socks.port, 2);
    assert.equal((await loadText(yaml, { env, flags: flag('3') })).config.socks.port, 3);
  });

  it('comes from the first default file that exists, unless PULSEGATE_CONFIG names another file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-etc-'));
    try {
      const installed = join(folder, 'pulsegate.yaml');
      await writeFile(installed, 'socks: { port: 7 }');
      const defaultFiles = ['pulsegate.yaml', installed];
      const fromInstalled = await loadText(null, { defaultFiles });
      assert.deepEqual([fromInstalled.file, fromInstalled.config.socks.port], [installed, 7]);
      const fromFolder = await loadText('socks: { port: 1 }', { defaultFiles });
      assert.deepEqual([fromFolder.file, fromFolder.config.socks.port], ['pulsegate.yaml', 1]);
      const named = await loadText(null, {
        defaultFiles: [join(folder, 'none')],
        env: { PULSEGATE_CONFIG: installed },
      });
      assert.equal(named.config.socks.port, 7);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is reported with its source when it is invalid', async () => {
    const env = { PULSEGATE_SOCKS__PORT: 'x' };
    assert.match(
      await messageOf(loadText('socks: { port: y }', { env })),
      /environment PULSEGATE_SOCKS__PORT: socks\.port: found "x"/,
    );
    assert.match(
      await messageOf(loadText('socks: { port: y }', { env, flags: flag('z') })),
      /flag --socks-port: socks\.port: found "z"/,
    );
  });
});

describe('a file without values', () => {
  for (const yaml of [
    '',
    '# nothing',
    'socks:\n  # port: 1\nlog:',
    '---\n',
    'socks: null\nheartbeats: { retention: ~ }',
  ]) {
    it(`has the defaults: ${JSON.stringify(yaml)}`, async () =>
      assert.equal((await loadText(yaml)).config.socks.port, 1080));
  }
});

describe('the environment', () => {
  const cases: readonly (readonly [env: Record<string, string>, path: string, value: unknown])[] = [
    [{ PULSEGATE_DATA_DIR: '/x' }, 'dataDir', '/x'],
    [{ PULSEGATE_DATADIR: '/x' }, 'dataDir', '/x'],
    [{ PULSEGATE_SOCKS__HANDSHAKE_TIMEOUT: '250ms' }, 'socks.handshakeTimeoutMs', 250],
    [{ PULSEGATE_socks__handshakeTimeout: '250ms' }, 'socks.handshakeTimeoutMs', 250],
    [{ PULSEGATE_SOCKS__HANDSHAKETIMEOUT: '1d' }, 'socks.handshakeTimeoutMs', null],
    [{ PULSEGATE_SOCKS__HOST: '[::1, 127.0.0.1]' }, 'socks.host', ['::1', '127.0.0.1']],
    [{ PULSEGATE_SOCKS__HOST: '::1' }, 'socks.host', ['::1']],
    [{ PULSEGATE_SOCKS__HOST: '0.0.0.0' }, 'socks.host', ['0.0.0.0']],
    [{ PULSEGATE_SOCKS__MAX_CONNECTIONS: '500' }, 'socks.maxConnections', 500],
    [{ PULSEGATE_SOCKS__MAX_CONNECTIONS: 'auto' }, 'socks.maxConnections', 'auto'],
    [{ PULSEGATE_EGRESS__ALLOW_UNDERSCORE: 'true' }, 'egress.allowUnderscore', true],
    [
      { PULSEGATE_EGRESS__ALLOW: '["10.0.0.0/8", "*.example.com:443"]' },
      'egress.allow',
      ['10.0.0.0/8', '*.example.com:443'],
    ],
    [{ PULSEGATE_HEARTBEATS__RETENTION__PER_ACCOUNT: '5' }, 'heartbeats.retention.perAccount', 5],
    [
      { PULSEGATE_HEARTBEATS__RETENTION: '{ days: 2 }' },
      'heartbeats.retention',
      { days: 2, perAccount: 10000 },
    ],
    [{ PULSEGATE_ADMIN__MAX_BODY: '1MiB' }, 'admin.maxBodyBytes', 1048576],
    [{ PULSEGATE_WEBHOOKS__SECRET_FILE: '123' }, 'webhooks.secretFile', '123'],
    [{ PULSEGATE_WEBHOOKS__SECRET_FILE: 'null' }, 'webhooks.secretFile', null],
    [{ PULSEGATE_SOCKS__PORT: '' }, 'socks.port', 1080],
    [
      { PULSEGATE_ADMIN_USERNAME: 'x', PULSEGATE_ADMIN_PASSWORD: 'y', PULSEGATE_ADMIN_PASSWORD_FILE: '/z' },
      'socks.port',
      1080,
    ],
    [{ PULSEGATEX: '1', OTHER: '2', pulsegate_x: '3' }, 'socks.port', 1080],
  ];
  for (const [env, path, value] of cases) {
    it(`sets a value: ${JSON.stringify(env)}`, async () => {
      if (value === null && path.endsWith('Ms')) {
        await assert.rejects(loadText(null, { env }));
        return;
      }
      const { config } = await loadText(null, { env });
      assert.deepEqual(
        path.split('.').reduce((at: unknown, key) => (at as Record<string, unknown>)[key], config),
        value,
      );
    });
  }

  it('changes an entry of a map in the file', async () => {
    const yaml = 'agents: { My-Agent: { type: http, url: "http://x/" } }';
    const { config } = await loadText(yaml, { env: { PULSEGATE_AGENTS__MY_AGENT__TIMEOUT: '3s' } });
    assert.equal(config.agents['My-Agent']?.timeoutMs, 3000);
  });

  it('leaves out of an egress class what the class leaves out', async () => {
    const yaml = 'egress: { classes: { a: { guard: { destinationsPerMinute: 5 } } } }';
    const { guard, denyPorts, bittorrent } = (await loadText(yaml)).config.egress.classes['a'] ?? {};
    assert.deepEqual([guard, denyPorts, bittorrent], [{ destinationsPerMinute: 5 }, undefined, undefined]);
  });

  it('adds an entry to a map', async () => {
    const env = {
      PULSEGATE_AGENTS__X: '{ type: http, url: "http://x/" }',
      PULSEGATE_AGENTS__X__TIMEOUT: '3s',
    };
    assert.equal((await loadText(null, { env })).config.agents['x']?.timeoutMs, 3000);
  });

  it('sets a secret without parsing it as YAML', async () => {
    for (const secret of ['12345', 'true', '*alias', '"quoted"', '{a: b}', 'null!', ' x ']) {
      const { config } = await loadText(null, { env: { PULSEGATE_WEBHOOKS__SECRET: secret } });
      assert.equal(config.webhooks.secret?.reveal(), secret);
    }
  });

  it('ignores the variables of agent runs and of Kubernetes services', async () => {
    const run = {
      runId: 'r',
      kind: 'message',
      agent: 'a',
      session: null,
      message: 'x',
      history: [],
      attempt: 1,
    } as const;
    const env = {
      ...runVariables(run),
      PULSEGATE_SERVICE_HOST: '10.96.0.7',
      PULSEGATE_SERVICE_PORT: '8080',
      PULSEGATE_SERVICE_PORT_ADMIN: '8080',
      PULSEGATE_PORT: 'tcp://10.96.0.7:8080',
      PULSEGATE_PORT_8080_TCP: 'tcp://10.96.0.7:8080',
      PULSEGATE_PORT_8080_TCP_PROTO: 'tcp',
      PULSEGATE_PORT_8080_TCP_PORT: '8080',
      PULSEGATE_PORT_8080_TCP_ADDR: '10.96.0.7',
      PULSEGATE_ADMIN_PORT: 'udp://10.96.0.8:53',
      PULSEGATE_ADMIN_SERVICE_HOST: '10.96.0.8',
      PULSEGATE_ADMIN_PORT_53_UDP_ADDR: '10.96.0.8',
    };
    const { effective } = await loadText(null, { env });
    const changed = effective().filter(({ source }) => source === 'environment');
    assert.deepEqual(changed, []);
  });

  const unknown: readonly (readonly [name: string, suggestion: string])[] = [
    ['PULSEGATE_SOKS__PORT', 'PULSEGATE_SOCKS__PORT'],
    ['PULSEGATE_SOCKS_PORT', 'PULSEGATE_SOCKS__PORT'],
    ['PULSEGATE_ADMIN_PASSWROD', 'PULSEGATE_ADMIN_PASSWORD'],
    ['PULSEGATE_ADMIN__PASSWORD', 'PULSEGATE_ADMIN_PASSWORD'],
    ['PULSEGATE_LOG__LEVEL__X', 'PULSEGATE_LOG__LEVEL'],
    ['PULSEGATE_', 'separate levels by two underscores'],
    ['PULSEGATE___', 'separate levels by two underscores'],
    ['PULSEGATE_QUITE_SOMETHING_ELSE', 'separate levels by two underscores'],
    ['PULSEGATE_ADMIN_PORT', 'PULSEGATE_ADMIN__PORT'],
    ['PULSEGATE_PORT', 'PULSEGATE_SOCKS__PORT'],
    ['PULSEGATE_RUN_IDS', 'separate levels by two underscores'],
  ];
  for (const [name, suggestion] of unknown) {
    it(`refuses ${name}`, async () => {
      const message = await messageOf(loadText(null, { env: { [name]: 'hunter2' } }));
      assert.ok(message.includes(name) && message.includes(suggestion), message);
      assert.ok(!message.includes('hunter2'), message);
    });
  }

  it('refuses two variables for one key', async () => {
    const env = { PULSEGATE_DATA_DIR: 'a', PULSEGATE_DATADIR: 'b' };
    assert.match(
      await messageOf(loadText(null, { env })),
      /PULSEGATE_DATA_DIR: PULSEGATE_DATADIR sets the same key|PULSEGATE_DATADIR: PULSEGATE_DATA_DIR sets the same key/,
    );
  });

  it('does not hide a wrong type in the file', async () => {
    assert.match(
      await messageOf(loadText('socks: text', { env: { PULSEGATE_SOCKS__PORT: '1' } })),
      /socks: found a text/,
    );
  });
});

describe('units', () => {
  it('are milliseconds and bytes', () => {
    const durations = ['250ms', '10s', '5m', '24h', '30d', '0s'].map(parseDuration);
    assert.deepEqual(durations, [250, 10_000, 300_000, 86_400_000, 2_592_000_000, 0]);
    assert.deepEqual(['1B', '64KiB', '10MiB', '1GiB', '1TiB'].map(parseSize), [
      1,
      65_536,
      10_485_760,
      2 ** 30,
      2 ** 40,
    ]);
  });

  it('are required, and have no other forms', () => {
    const validForm = /^\d{1,12}(ms|s|m|h|d)$/;
    fc.assert(
      fc.property(
        fc.stringMatching(/^[-+ .0-9msdhKiB\n]{0,8}$/),
        (text) => validForm.test(text) || parseDuration(text) === null,
      ),
      { numRuns: 5000 },
    );
  });
});

describe('warnings', () => {
  it('report a secret that is too short', async () => {
    const { warnings } = await loadText('webhooks: { secret: short }');
    assert.match(warnings.join(), /webhooks\.secret is shorter than 32 characters/);
    assert.deepEqual((await loadText(`webhooks: { secret: ${'x'.repeat(32)} }`)).warnings, []);
  });
});
