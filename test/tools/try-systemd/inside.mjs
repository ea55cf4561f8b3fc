// What test/tools/try-systemd.sh does in its Debian: installs the package, and restarts, upgrades and breaks the service under players.
//   inside.mjs short|whole THIS.deb OTHER.deb
// Prints a line for each step, and ends with 0 if no session has ended, nothing was refused, and everything that was counted is equal.
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startPlayers } from './players.mjs';

const [, , extent, thisPackage, otherPackage] = process.argv;
const isWhole = extent === 'whole';
const COUNTS = isWhole
  ? { echo: 100, bulk: 50, udp: 100, idle: 2_000, restarts: 20, upgrades: 5 }
  : { echo: 20, bulk: 5, udp: 10, idle: 100, restarts: 3, upgrades: 1 };
/** Players play for this time between two steps. The unit permits 15 starts a minute. */
const BETWEEN_MS = isWhole ? 5_000 : 2_000;
const CONFIG = '/etc/pulsegate/pulsegate.yaml';
const PROGRAM = '/usr/lib/pulsegate/dist/program';
const DATABASE = '/var/lib/pulsegate/pulsegate.db';
const ADMIN = 'http://127.0.0.1:8080';
const KINDS = ['echo', 'bulk', 'udp', 'idle', 'login'];
const failures = [];

// ── Commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Resolves with exit code and output. */
const run = (command, ...words) =>
  new Promise((resolve) => {
    execFile(command, words, { timeout: 180_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({
        code: error ? (error.code ?? String(error.signal)) : 0,
        stdout,
        text: `${stdout}${stderr}`.trim(),
      }),
    );
  });

async function must(command, ...words) {
  const { code, stdout, text } = await run(command, ...words);
  if (code !== 0) throw new Error(`${[command, ...words].join(' ')}: ${code}\n${text}`);
  return stdout.trim();
}

const property = (name) => must('systemctl', 'show', '--value', '-p', name, 'pulsegate');
const query = async (sql) =>
  (await must('sqlite3', '-readonly', DATABASE, sql)).split('\n').map((line) => line.split('|'));

function request(path, method = 'GET', body) {
  const password = readFileSync('/etc/pulsegate/admin-password', 'utf8').trim();
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };
  return fetch(`${ADMIN}${path}`, { method, headers, body: body && JSON.stringify(body) });
}

async function api(path) {
  const answer = await request(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function eventually(what, isTrue) {
  for (let i = 0; i < 600; i += 1) {
    if (await isTrue()) return;
    await pause(100);
  }
  throw new Error(`not within a minute: ${what}`);
}

/** Notes a failure unless `found` is `wanted`. */
function expect(what, found, wanted) {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  failures.push(`${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
  console.log(`  FAILED ${failures.at(-1)}`);
}

// ── Under players ────────────────────────────────────────────────────────────────────────────────────────────────────

async function install() {
  await must('dpkg', '-i', thisPackage);
  // The players' servers are on this machine.
  writeFileSync(CONFIG, readFileSync(CONFIG, 'utf8').replace(/^( +private: )deny/m, '$1allow'));
  await must('systemctl', 'restart', 'pulsegate');
  const passwords = KINDS.map((kind) => [kind, { username: kind, password: `secret-${kind}` }]);
  for (const [kind, { password }] of passwords)
    execFileSync('pulsegate', ['account', 'add', kind, '--password-stdin'], {
      input: `${password}\n`,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  // The daemon reads changes of the command line within a second.
  await eventually('accounts', async () => (await api('/api/v1/accounts')).items.length === KINDS.length);
  return Object.fromEntries(passwords);
}

/** An exit with a mark is refused by the unit as it is, and saved with the drop-in of etc/README.md. */
async function markWithDropIn() {
  const folder = '/etc/systemd/system/pulsegate.service.d';
  const save = async (name) => (await request('/api/v1/exits', 'POST', { name, mark: 7 })).status;
  expect('status of an exit with a mark', await save('marked'), 409);
  mkdirSync(folder);
  const lines = [
    'AmbientCapabilities=CAP_NET_ADMIN',
    'CapabilityBoundingSet=CAP_NET_ADMIN',
    'PrivateUsers=no',
  ];
  writeFileSync(`${folder}/mark.conf`, ['[Service]', ...lines, ''].join('\n'));
  await must('systemctl', 'daemon-reload');
  await must('systemctl', 'restart', 'pulsegate');
  expect('status of an exit with a mark, with the drop-in', await save('marked'), 201);
  await request('/api/v1/exits/marked', 'DELETE');
  rmSync(folder, { recursive: true });
  await must('systemctl', 'daemon-reload');
  await must('systemctl', 'restart', 'pulsegate');
  expect('status of an exit with a mark, without the drop-in again', await save('again'), 409);
  console.log('an exit with a mark: refused, and saved with the drop-in');
}

/** One step under players: what it does, and how long the longest message took meanwhile. */
async function step(players, name, act) {
  players.takePauseMs();
  const startedAt = performance.now();
  const before = players.seen.ended.length + players.seen.refused.length;
  await act();
  const tookMs = performance.now() - startedAt;
  await pause(BETWEEN_MS);
  const after = players.seen.ended.length + players.seen.refused.length;
  const pauseMs = Math.round(players.takePauseMs());
  console.log(
    `${name}: took ${Math.round(tookMs)} ms, longest pause ${pauseMs} ms${after > before ? `, ENDED OR REFUSED ${after - before}` : ''}`,
  );
  return pauseMs;
}

async function restartInPlace() {
  const pid = await property('MainPID');
  await must('pulsegate', 'restart');
  expect('process of a restart in place', await property('MainPID'), pid);
}

async function restartByUnit() {
  const pid = await property('MainPID');
  await must('systemctl', 'restart', 'pulsegate');
  expect('another process after a restart of the unit', (await property('MainPID')) === pid, false);
}

async function upgradeTo(file) {
  await must('dpkg', '--force-downgrade', '-i', file);
  const version = await must('dpkg-deb', '--field', file, 'Version');
  const ready = (await must('journalctl', '-u', 'pulsegate', '-o', 'cat', '--no-pager')).split('\n');
  const started = ready.findLast((line) => line.includes('"msg":"ready"')) ?? '{}';
  expect('version of the running program', JSON.parse(started).version, version);
}

/** Appends to the file of the program that starts the daemon. Returns how to undo that. */
function appendToDaemon(code) {
  const names = readdirSync(PROGRAM).filter((name) => name.startsWith('daemon-'));
  const isDaemon = (name) => readFileSync(`${PROGRAM}/${name}`, 'utf8').includes('function startDaemon');
  const file = `${PROGRAM}/${names.find(isDaemon)}`;
  const text = readFileSync(file);
  appendFileSync(file, code);
  return () => writeFileSync(file, text);
}

/** Each breaks the program that a restart would start, and returns how to mend it. */
const BREAKS = {
  async 'a syntax error'() {
    // Not one that `pulsegate restart` loads itself.
    return appendToDaemon('\n}{');
  },
  async 'no memory'() {
    const allocate = 'for (const all = []; ; ) all.push(new Array(1e5).fill(0.5));';
    return appendToDaemon(`\nrequire('node:v8').setFlagsFromString('--max-old-space-size=60'); ${allocate}`);
  },
  async 'a wrong configuration'() {
    const text = readFileSync(CONFIG);
    appendFileSync(CONFIG, '\nsocks: { port: many }\n');
    return () => writeFileSync(CONFIG, text);
  },
  async 'a newer database'() {
    await must(
      'sqlite3',
      DATABASE,
      '.timeout 5000',
      "insert into schema_migrations (name, batch, migration_time) values ('99999999_later', 999, 0)",
    );
    return () =>
      must(
        'sqlite3',
        DATABASE,
        '.timeout 5000',
        "delete from schema_migrations where name = '99999999_later'",
      );
  },
  async 'a full disk'() {
    const free = Number(
      (await must('stat', '-f', '-c', '%a * %S', '/var/lib/pulsegate')).split(' * ').reduce((a, b) => a * b),
    );
    await must('fallocate', '-l', String(free - 700_000), '/var/lib/pulsegate/filler');
    return () => must('rm', '/var/lib/pulsegate/filler');
  },
};

async function restartBroken(name) {
  const pid = await property('MainPID');
  const mend = await BREAKS[name]();
  try {
    const { code, text } = await run('pulsegate', 'restart');
    expect(`exit code with ${name}`, code === 0, false);
    console.log(`  ${text.split('\n').slice(0, 3).join(' / ').slice(0, 300)}`);
    expect(`process with ${name}`, await property('MainPID'), pid);
  } finally {
    await mend();
  }
}

// ── Counted ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The live sessions of the registry. */
async function liveSessions() {
  const found = [];
  for (let cursor = ''; cursor !== null; ) {
    const { items, nextCursor } = await api(`/api/v1/sessions?limit=200${cursor}`);
    found.push(...items);
    cursor = nextCursor && `&cursor=${encodeURIComponent(nextCursor)}`;
  }
  return found;
}

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** By kind: bytes up, bytes down, number of sessions, as the peers have counted. */
function countedByPeers({ players, seen, loginBytes }) {
  const of = (kind) => players.filter((player) => player.kind === kind);
  const { up, down } = loginBytes();
  return Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      kind === 'login'
        ? [up, down, seen.logins]
        : [
            sum(of(kind).map((player) => player.up)),
            sum(of(kind).map((player) => player.down)),
            of(kind).length,
          ],
    ]),
  );
}

/** Rows of account, bytes up, bytes down, number: by kind. */
async function countedBy(sql) {
  const rows = (await query(sql)).map(([kind, ...numbers]) => [kind, numbers.map(Number)]);
  const found = Object.fromEntries(rows);
  return Object.fromEntries(KINDS.map((kind) => [kind, found[kind] ?? null]));
}

/** Everything that peers, registry and database have counted must be equal. Ends the players. */
async function compare(players) {
  await players.settle();
  const peers = new Map(players.players.map((player) => [player.port, player]));
  let live = [];
  await eventually('only sessions of players are live', async () => {
    live = await liveSessions();
    return live.length === peers.size;
  });
  const unequal = live.flatMap(({ client, bytesUp, bytesDown }) => {
    const { name, up, down } = peers.get(client.port) ?? {};
    return up === bytesUp && down === bytesDown ? [] : [{ name, up, down, bytesUp, bytesDown }];
  });
  expect('sessions of the registry that differ from their peers', unequal.slice(0, 5), []);
  players.end();
  await eventually('all sessions have ended', async () => (await liveSessions()).length === 0);
  const counted = countedByPeers(players);
  const isWritten = `select count(*) from session_records where ended_at is null`;
  await eventually('all ends are written', async () => (await query(isWritten))[0][0] === '0');
  await pause(2_000);
  const from = `from accounts a join`;
  const tables = {
    'records of sessions': `select a.username, sum(r.bytes_up), sum(r.bytes_down), count(*) ${from} session_records r on r.account_id = a.id group by a.id`,
    'traffic of days': `select a.username, sum(d.bytes_up), sum(d.bytes_down), sum(d.sessions) ${from} traffic_days d on d.account_id = a.id group by a.id`,
    'heartbeat entries': `select a.username, sum(h.bytes_up), sum(h.bytes_down), count(distinct h.session_id) ${from} heartbeats h on h.account_id = a.id group by a.id`,
  };
  for (const [name, sql] of Object.entries(tables)) expect(name, await countedBy(sql), counted);
  console.log(`counted alike by peers, registry and database: ${JSON.stringify(counted)}`);
}

/** The process is killed while it hands over: sessions may end, and nothing else is lost. */
async function killInHandover() {
  const before = await query('select count(*), sum(bytes_up), sum(bytes_down) from traffic_days');
  const starts = Number(await property('NRestarts'));
  const pid = await property('MainPID');
  await must('systemctl', 'restart', '--no-block', 'pulsegate');
  await pause(100 * Math.random());
  await run('kill', '-9', pid);
  await eventually(
    'the service runs again',
    async () =>
      (await property('MainPID')) !== pid &&
      (await run('pulsegate', 'node', 'list')).code === 0 &&
      (await property('ActiveState')) === 'active',
  );
  expect('accounts after a kill', (await api('/api/v1/accounts')).items.length, KINDS.length);
  expect(
    'traffic after a kill',
    await query('select count(*), sum(bytes_up), sum(bytes_down) from traffic_days'),
    before,
  );
  console.log(
    `killed in a handover: runs again, ${Number(await property('NRestarts')) - starts} starts by systemd`,
  );
}

/** The socket of pulsegate.socket stays one listener of the daemon, however it is restarted. */
async function restartWithSocketUnit() {
  await must('systemctl', 'stop', 'pulsegate');
  await must('systemctl', 'enable', '--now', 'pulsegate.socket');
  await must('systemctl', 'start', 'pulsegate');
  for (const restart of [restartByUnit, restartByUnit, restartInPlace, restartByUnit]) await restart();
  const [listening] = (await must('ss', '-Hltnp', 'sport = 1080')).split('\n');
  const descriptors = listening.match(/"node",pid=\d+,fd=\d+/g) ?? [];
  console.log(`restarts with pulsegate.socket: the daemon has it ${descriptors.length} times`);
  expect('descriptors of the socket', descriptors.length, 1);
}

/** `journalctl -p warning` shows warnings and errors of the daemon, and only these. */
async function checkPriorities() {
  // A key that a reload does not apply is a warning.
  writeFileSync(CONFIG, readFileSync(CONFIG, 'utf8').replace(/^( +private: )allow/m, '$1deny'));
  await must('systemctl', 'reload', 'pulsegate');
  const log = ['-u', 'pulsegate', '-t', 'pulsegate', '-o', 'cat', '--no-pager'];
  const isWarned = async () => (await must('journalctl', ...log)).includes('changed keys need a restart');
  await eventually('the reload warns', isWarned);
  const lines = await must('journalctl', ...log, '-p', 'warning');
  const levels = new Set(lines.split('\n').map((line) => /"level":"(\w+)"/.exec(line)?.[1]));
  expect(
    'levels below warning in the journal',
    [...levels].filter((level) => level === 'info' || level === 'debug'),
    [],
  );
  expect('warnings in the journal', levels.has('warn') || levels.has('error'), true);
}

async function main() {
  const accounts = await install();
  await markWithDropIn();
  const players = await startPlayers({ proxy: 1080, counts: COUNTS, accounts });
  console.log(`players: ${JSON.stringify(COUNTS)}`);
  const { seen } = players;
  const pauses = [await step(players, 'nothing', async () => {})];
  for (let i = 1; i <= COUNTS.restarts; i += 1) {
    const isByUnit = i % 2 === 1;
    const name = isByUnit ? 'systemctl restart' : 'pulsegate restart';
    pauses.push(await step(players, `${name} ${i}`, isByUnit ? restartByUnit : restartInPlace));
  }
  for (let i = 1; i <= COUNTS.upgrades; i += 1) {
    pauses.push(
      await step(players, `upgrade ${i}`, () => upgradeTo(i % 2 === 1 ? otherPackage : thisPackage)),
    );
  }
  for (const name of Object.keys(BREAKS).slice(0, isWhole ? undefined : 1))
    pauses.push(await step(players, `restart with ${name}`, () => restartBroken(name)));
  await compare(players);
  console.log(
    `sessions ended ${seen.ended.length}, refused ${seen.refused.length}, wrong ${seen.wrong.length}, logins ${seen.logins}`,
  );
  console.log(`longest pause ${Math.max(...pauses)} ms, slowest login ${Math.round(seen.slowestLoginMs)} ms`);
  if (isWhole) {
    await killInHandover();
    await restartWithSocketUnit();
    await checkPriorities();
  }
  for (const kind of ['ended', 'refused', 'wrong']) expect(kind, seen[kind].slice(0, 5), []);
}

try {
  await main();
} catch (error) {
  failures.push(error.message);
  console.log(`FAILED ${error.stack}`);
}
if (failures.length > 0) {
  const log = (await must('journalctl', '-u', 'pulsegate', '-o', 'cat', '--no-pager')).split('\n');
  console.log(
    log
      .filter((line) => !line.includes('"msg":"session ended"'))
      .slice(-60)
      .join('\n'),
  );
}
console.log(failures.length === 0 ? 'passed' : `${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
