// Invalid configurations: the message names the place, the key, the value, and the allowed values.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadText, messageOf } from '../helpers/config-file.js';

const AGENT = 'agents: { a: { type: command, command: [x]';

/** A configuration file, and the expected parts of its message. */
const CASES: readonly (readonly [yaml: string, ...expected: (string | RegExp)[]])[] = [
  // Keys that do not exist.
  ['port: 1080', 'pulsegate.yaml:1:1', 'port', 'did you mean', 'socks.port', 'admin.port'],
  ['socks:\n  prot: 1', 'pulsegate.yaml:2:3', 'socks.prot', 'did you mean socks.port?'],
  ['socks:\n  handshaketimeout: 1s', 'did you mean socks.handshakeTimeout?'],
  ['socks: { handshakeTimeoutMs: 1 }', 'did you mean socks.handshakeTimeout?'],
  ['socks: { udp: { maxWaitingForParent: 9 } }', 'did you mean socks.udp.maxWaitingForUpstream?'],
  ['sokcs: {}', 'did you mean socks?'],
  ['socks: { zzzzzz: 1 }', 'allowed: host, port, '],
  ['heartbeats: { retention: { day: 3 } }', 'did you mean heartbeats.retention.days?'],
  ['heartbeats: { games: [{ id: a, mach: {} }] }', 'heartbeats.games[0].mach', 'heartbeats.games[0].match?'],
  ['__proto__: { x: 1 }', '__proto__: unknown key'],
  ['constructor: 1', 'constructor: unknown key'],
  ['socks: { toString: 1 }', 'socks.toString: unknown key'],
  ['agents: { a: { type: http, url: "http://x/", modl: x } }', 'agents.a.modl: unknown key'],
  [`${AGENT}, cmmand: [] } }`, 'did you mean agents.a.command?'],
  ['webhooks: { agents: { a: { session: k } } }', 'webhooks.agents.a.session'],
  // Wrong types.
  ['socks: 5', 'pulsegate.yaml:1:8', 'socks: found a number; allowed: a group of keys'],
  ['socks: text', 'socks: found a text; allowed: a group of keys'],
  ['socks: []', 'socks: found an empty list; allowed: a group of keys'],
  ['[]', '(file): found an empty list; allowed: a group of keys'],
  ['just text', '(file): found a text; allowed: a group of keys'],
  ['egress: { allow: db.example }', 'egress.allow: found a text; allowed: a list'],
  ['agents: []', 'agents: found an empty list; allowed: a map from names to groups of keys'],
  ['heartbeats: { games: { id: a } }', 'heartbeats.games: found a group of keys; allowed: a list'],
  ['dataDir: 5', 'dataDir: found 5; allowed: a folder'],
  ['dataDir: ""', 'dataDir: found ""; allowed: a folder'],
  ['dataDir: null', 'dataDir: found null; allowed: a folder'],
  // Ports and counts.
  ['socks: { port: 65536 }', 'socks.port: found 65536; allowed: a port from 0 to 65535'],
  ['socks: { port: -1 }', 'found -1'],
  ['socks: { port: 1080.5 }', 'found 1080.5'],
  ['socks: { port: "1080" }', 'found "1080"; allowed: a port from 0 to 65535'],
  ['socks: { port: null }', 'found null'],
  ['socks: { port: .nan }', 'found NaN'],
  ['socks: { port: .inf }', 'found Infinity'],
  ['socks: { maxConnections: 0 }', 'found 0; allowed: auto, or a whole number from 1'],
  ['socks: { maxConnections: all }', 'found "all"; allowed: auto, or a whole number from 1'],
  ['dns: { cacheSize: -1 }', 'dns.cacheSize: found -1; allowed: a whole number from'],
  [
    'heartbeats: { retention: { days: 0 } }',
    'heartbeats.retention.days: found 0; allowed: a whole number from 1',
  ],
  // What a listener serves.
  [
    'socks: { protocols: [] }',
    'socks.protocols: found an empty list; allowed: a list of at least one of socks5',
  ],
  ['socks: { protocols: [ftp] }', 'socks.protocols[0]: found "ftp"; allowed: a list'],
  ['socks: { http: { maxHeaderFields: 9 } }', 'found 9; allowed: a whole number from 10 to 10000'],
  ['socks: { tls: { maxHandshakesPerSecond: 0 } }', 'found 0; allowed: a whole number from 1 to 100000'],
  ['socks: { listeners: [{ host: "::1", port: 1, tls: { cert: a } }] }', 'socks.listeners[0].tls.key'],
  ['socks: { listeners: [{ path: /s, tls: { cert: a, key: b } }] }', 'no certificate on a Unix socket'],
  [
    `socks: { listeners: [{ path: /${'a'.repeat(107)} }] }`,
    'socks.listeners[0].path',
    'the path of a Unix socket, at most 107 bytes',
  ],
  [
    `socks: { listeners: [{ path: /${'\u6570'.repeat(36)} }] }`,
    'socks.listeners[0].path',
    'at most 107 bytes',
  ],
  ['socks: { udp: { portRange: "40000" } }', 'found "40000"; allowed: null, or a range of ports such as "4'],
  ['socks: { udp: { portRange: 9-1 } }', 'socks.udp.portRange: found "9-1"'],
  ['socks: { udp: { portRange: 0-9 } }', 'socks.udp.portRange: found "0-9"'],
  ['socks: { bind: { portRange: 9-65536 } }', 'socks.bind.portRange: found "9-65536"'],
  [
    'socks: { proxyProtocol: true, proxyProtocolFrom: ["::1"], listeners: [{ host: "::1", port: 1, tls: { cert: a, key: b } }] }',
    'socks.listeners[0].tls',
    'no certificate together with the PROXY protocol; set proxyProtocol: false',
  ],
  // Durations and sizes.
  [
    'socks: { idleTimeout: 5 }',
    'socks.idleTimeout: found 5; allowed: a duration such as 250ms, 10s, 5m, 24h or 30d',
  ],
  ['socks: { idleTimeout: "5" }', 'found "5"; allowed: a duration'],
  ['socks: { idleTimeout: 5 m }', 'found "5 m"; allowed: a duration'],
  ['socks: { idleTimeout: 5M }', 'found "5M"; allowed: a duration'],
  ['socks: { idleTimeout: -5m }', 'found "-5m"'],
  ['socks: { idleTimeout: 1.5h }', 'found "1.5h"'],
  ['socks: { idleTimeout: 0s }', 'found "0s"', 'from 10ms to 24d'],
  ['socks: { idleTimeout: 25d }', 'found "25d"', 'from 10ms to 24d'],
  ['socks: { idleTimeout: 999999999999d }', 'found "999999999999d"'],
  ['admin: { maxBody: 64KB }', 'admin.maxBody: found "64KB"; allowed: a size such as 512B, 64KiB or 10MiB'],
  ['admin: { maxBody: 64 }', 'found 64; allowed: a size'],
  ['admin: { maxBody: 1GiB }', 'found "1GiB"', 'from 1KiB to 10MiB'],
  // Choices.
  [
    'log: { level: verbose }',
    'log.level: found "verbose"; allowed: trace, debug, info, warn, error, fatal or silent',
  ],
  ['log: { level: INFO }', 'found "INFO"'],
  ['database: { client: mysql }', 'database.client: found "mysql"; allowed: auto'],
  [
    'egress: { denyPorts: [smtp, mail] }',
    'egress.denyPorts[1]: found "mail"; allowed: a port from 1 to 65535, a range such as "6881-6889", or a list: smtp (25)',
  ],
  [
    'egress: { classes: { a: { denyPorts: [0] } } }',
    'egress.classes.a.denyPorts[0]: found 0; allowed: a port',
  ],
  ['egress: { denyPorts: ["9-8"] }', 'egress.denyPorts[0]: found "9-8"'],
  ['egress: { bittorrent: no }', 'egress.bittorrent: found "no"; allowed: deny or allow'],
  ['egress: { private: yes }', 'egress.private: found "yes"; allowed: deny or allow'],
  ['egress: { private: true }', 'egress.private: found true; allowed: deny or allow'],
  ['egress: { allowUnderscore: yes }', 'egress.allowUnderscore: found "yes"; allowed: true or false'],
  ['socks: { engine: fast }', 'allowed: auto, native or node'],
  // Addresses.
  ['socks: { host: "a b" }', 'socks.host: found "a b"; allowed: an address or host name'],
  ['socks: { host: 127.0.0.256 }', 'socks.host: found "127.0.0.256"'],
  ['socks: { host: "127.0.0.1:1080" }', 'socks.host'],
  ['socks: { host: [] }', 'socks.host: found an empty list'],
  ['admin: { host: [localhost, 5] }', 'admin.host: found a list'],
  ['admin: { trustedProxies: [10.0.0.0/33] }', 'admin.trustedProxies[0]: found "10.0.0.0/33"'],
  [
    'egress: { allow: ["10.0.0.0/33"] }',
    'egress.allow[0]: found "10.0.0.0/33"; allowed: an address or block',
  ],
  ['egress:\n  deny:\n    - ok.example\n    - "*.x.example:0"', 'pulsegate.yaml:4:7', 'egress.deny[1]'],
  // Game rules.
  ['heartbeats: { games: [{}] }', 'heartbeats.games[0]: needs an id or a gameId pattern'],
  ['heartbeats: { games: [{ id: a, gameId: "(b)" }] }', 'heartbeats.games[0]: has both id and gameId'],
  ['heartbeats: { games: [{ id: 7 }] }', 'heartbeats.games[0].id: found 7'],
  ['heartbeats: { games: [{ gameId: "(a" }] }', 'heartbeats.games[0].gameId: pattern "(a"'],
  ['heartbeats: { games: [{ gameId: "(a)\\\\1" }] }', 'backreferences are not supported'],
  [
    'heartbeats: { games: [{ id: a, match: { ports: [70000] } }] }',
    'heartbeats.games[0].match.ports[0]: 70000 is not a port',
  ],
  [
    'heartbeats: { games: [{ id: a, match: { ports: ["9-1"] } }] }',
    'heartbeats.games[0].match.ports[0]: "9-1" is not a port',
  ],
  [
    'heartbeats: { games: [{ id: a, match: { ports: [] } }] }',
    'heartbeats.games[0].match.ports: must not be empty',
  ],
  [
    'heartbeats: { games: [{ id: a, match: { hosts: ["a b"] } }] }',
    'heartbeats.games[0].match.hosts[0]: "a b" is not a host name',
  ],
  [
    'heartbeats: { games: [{ id: a, match: { protocol: sctp } }] }',
    'heartbeats.games[0].match.protocol: found "sctp"; allowed: tcp or udp',
  ],
  [
    'heartbeats: { games: [{ gameId: "(a)", maxBytes: 1MiB }] }',
    'heartbeats.games[0].maxBytes: found "1MiB"',
  ],
  // Webhooks and agents.
  [
    'webhooks: { enabled: true }',
    'webhooks.secret: found nothing; allowed: a text of at least 32 random characters',
  ],
  ['webhooks: { enabled: true, secret: "" }', 'webhooks.secret: found an empty text'],
  ['webhooks: { secret: 12345678 }', 'webhooks.secret: found a number'],
  ['webhooks: { secret: a, secretFile: b }', 'webhooks.secretFile', 'because webhooks.secret is also set'],
  [
    'webhooks: { agents: { ghost: {} } }',
    'webhooks.agents.ghost',
    'allowed: the name of an agent under agents (none yet)',
  ],
  ['webhooks: { allowFrom: [everyone] }', 'webhooks.allowFrom[0]: found "everyone"'],
  [
    'agents: { "a b": { type: http, url: "http://x/" } }',
    'agents.a b: found "a b" as a name; allowed: a name of 1 to 64',
  ],
  ['agents: { a: {} }', 'agents.a.type: found nothing; allowed: command, socket, http, openai'],
  ['agents: { a: { type: shell } }', 'agents.a.type: found "shell"; allowed: command, socket, http, openai'],
  [
    'agents: { a: { type: socket, path: a.sock } }',
    'agents.a.path: found "a.sock"; allowed: an absolute path of a Unix',
  ],
  [
    `agents: { a: { type: socket, path: "/${'x'.repeat(107)}" } }`,
    'agents.a.path: found',
    'allowed: an absolute path of a Unix socket, at most 107 bytes',
  ],
  [
    'agents: { a: { type: command } }',
    'pulsegate.yaml:1:14',
    'agents.a.command: found nothing; allowed: a list',
  ],
  ['agents: { a: { type: command, command: run.sh } }', 'agents.a.command: found a text; allowed: a list'],
  [
    'agents: { a: { type: http, url: "ftp://x/" } }',
    'agents.a.url: found "ftp://x/"; allowed: an http:// or https:// URL',
  ],
  [
    'agents: { a: { type: http, url: "http://me:pw@x/" } }',
    'agents.a.url',
    'without a user name or password',
  ],
  [
    `${AGENT}, channel: { type: pigeon } } }`,
    'agents.a.channel.type: found "pigeon"; allowed: none, log, file, http',
  ],
  [`${AGENT}, channel: { type: file } } }`, 'agents.a.channel.path: found nothing; allowed: a file path'],
  // Not YAML.
  ['socks: {', 'pulsegate.yaml:1:9'],
  ['socks:\n\tport: 1', 'pulsegate.yaml:2:1', 'indent with spaces'],
  ['socks: { port: 1, port: 2 }', 'pulsegate.yaml:1:19', 'duplicate key'],
  ['a: 1\n---\nb: 2', 'only one YAML document'],
  ['egress: { allow: [*.x] }', 'in quotes'],
  ['egress:\n  allow:\n    - *.example.com:443', 'pulsegate.yaml:3:7', 'in quotes'],
  ['dataDir: !tag x', 'in quotes'],
  ['dataDir: @x', 'in quotes'],
  ['dataDir: "\\q"', 'backslash'],
];

describe('an invalid configuration', () => {
  for (const [yaml, ...expected] of CASES) {
    it(`is refused: ${JSON.stringify(yaml)}`, async () => {
      const message = await messageOf(loadText(yaml));
      for (const part of expected) {
        assert.ok(
          part instanceof RegExp ? part.test(message) : message.includes(part),
          `${part}\nnot in:\n${message}`,
        );
      }
      assert.doesNotMatch(message, /Invalid input|undefined|\[object/);
    });
  }

  it('is not a socket path of 107 bytes, nor a range of one port or of all', async () => {
    const path = `/a${'\u6570'.repeat(35)}`;
    const text = `socks: { listeners: [{ path: ${path} }], udp: { portRange: 9-9 }, bind: { portRange: 1-65535 } }`;
    assert.equal((await loadText(text)).config.socks.listeners[0]?.path, path);
  });

  it('gets a message with all errors, in the order of the file', async () => {
    const message = await messageOf(
      loadText('log: { level: x }\nsocks:\n  port: -1\n  prot: 2\nadmin: { port: a }'),
    );
    const places = [...message.matchAll(/pulsegate\.yaml:(\d+)/g)].map(([, line]) => Number(line));
    assert.deepEqual(places, [1, 3, 4, 5]);
  });

  it('gets a message without control characters', async () => {
    const message = await messageOf(loadText('log: { level: "a\\x1b[31m\\n\\x9b" }\n"k\\x1b": 1'));
    assert.doesNotMatch(message.replaceAll('\n', ''), /[\p{C}]/u);
  });

  it('gets a message of a readable length', async () => {
    const message = await messageOf(loadText(`log: { level: ${'x'.repeat(5000)} }`));
    assert.ok(message.length < 400, message);
  });
});

describe('a configuration file that cannot be read', () => {
  it('is named when it is missing', async () => {
    assert.match(await messageOf(loadText(null, { file: 'other.yaml' })), /other\.yaml: no such file/);
  });

  it('is named when it comes from PULSEGATE_CONFIG', async () => {
    const message = await messageOf(loadText(null, { env: { PULSEGATE_CONFIG: '/nowhere/x.yaml' } }));
    assert.match(message, /\/nowhere\/x\.yaml: no such file/);
  });

  it('is refused when it is a folder', async () => {
    assert.match(await messageOf(loadText(null, { file: '.' })), /this is a directory, not a file/);
  });

  it('is refused when it is not UTF-8', async () => {
    assert.match(await messageOf(loadText(Buffer.from([0x64, 0x3a, 0x20, 0xff]))), /not valid UTF-8/);
  });

  it('is refused when aliases expand it too much', async () => {
    const bomb = `a: &a [x]\n${['b', 'c', 'd', 'e', 'f', 'g']
      .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[i]}`).join(',')}]`)
      .join('\n')}`;
    assert.match(await messageOf(loadText(bomb)), /too many aliases|unknown key/);
  });
});
