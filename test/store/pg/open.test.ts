// Opening a PostgreSQL database: every reason not to start has one message, with advice and without the password.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, copyFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect, promisify } from 'node:util';
import type { Knex } from 'knex';
import { StartError } from '../../../src/core/errors.js';
import { migratorConfig } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { connectPg, connectPgReaders, preparePg } from '../../../src/store/pg/connect.js';
import {
  type MigrationEvent,
  openDaemonStore,
  openStore,
  type StoreOptions,
} from '../../../src/store/store.js';
import { makeCertificate } from '../../helpers/certificate.js';
import { freePort } from '../../helpers/ports.js';
import { startPostgres } from '../../helpers/postgres.js';
import { needs } from '../../helpers/programs.js';
import { newDatabase, sharedPostgres } from '../../helpers/shared-postgres.js';
import { addAccount } from '../../helpers/stored-accounts.js';
import { account, tempDir } from '../helpers.js';

const PASSWORD = 'hunter2-secret';

async function optionsFor(t: TestContext, connection: string): Promise<StoreOptions> {
  return { client: 'pg', dataDir: await tempDir(t), connection, poolSize: 3 };
}

/** Returns the message of the refusal, which must not contain the password. */
async function refusal(t: TestContext, connection: string, code: string): Promise<string> {
  const error: unknown = await openStore(await optionsFor(t, connection)).then(
    async (store) => {
      await store.close();
      assert.fail('the store opened');
    },
    (reason) => reason,
  );
  assert.ok(error instanceof StartError, String(error));
  assert.equal(error.code, code, error.message);
  // With every property of every cause: the errors of URL, for example, contain what they could not read.
  assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), new RegExp(PASSWORD));
  return error.message;
}

/** Returns the connection string with another user, name or parameter. */
function changed(url: string, from: RegExp, to: string): string {
  const result = url.replace(from, to);
  assert.notEqual(result, url);
  return result;
}

function connect(t: TestContext, connection: string): Knex {
  const db = connectPg(connection, 1);
  t.after(() => db.destroy());
  return db;
}

/** Starts the beginning of a server that asks for a password by SCRAM, and returns its port. */
async function startPasswordServer(t: TestContext): Promise<number> {
  // https://www.postgresql.org/docs/current/protocol-message-formats.html: AuthenticationSASL, AuthenticationSASLContinue.
  const authentication = (kind: number, rest: string): Buffer => {
    const body = Buffer.from(`R????????${rest}`);
    body.writeInt32BE(body.length - 1, 1);
    body.writeInt32BE(kind, 5);
    return body;
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    socket.once('data', () => {
      socket.write(authentication(10, 'SCRAM-SHA-256\0\0'));
      socket.once('data', () => socket.write(authentication(11, 'r=nonce,s=c2FsdA==,i=4096')));
    });
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a connection string that is malformed or names a missing file is refused', async (t) => {
  assert.match(
    await refusal(t, `postgres://me:${PASSWORD}@db:port/x`, 'database-connection'),
    /postgres:\/\/USER:PASSWORD@HOST:5432\/NAME/,
  );
  await refusal(
    t,
    `postgres://me:${PASSWORD}@db/x?sslmode=verify-full&sslrootcert=/nope`,
    'database-connection',
  );
});

test('an unreachable server and an unknown host name are refused', async (t) => {
  const port = await freePort();
  const message = await refusal(t, `postgres://me:${PASSWORD}@127.0.0.1:${port}/x`, 'database-unreachable');
  assert.match(message, new RegExp(`postgres://me@127.0.0.1:${port}/x`));
  await refusal(t, `postgres://me:${PASSWORD}@db.invalid/x`, 'database-unreachable');
});

test('a missing database and a failed login are refused', async (t) => {
  const url = await newDatabase(t, { isEmpty: true });
  assert.match(await refusal(t, changed(url, /test_\w+/, 'nothing'), 'database-unknown'), /createdb/);
  const stranger = changed(url, /postgres@/, `stranger:${PASSWORD}@`);
  assert.match(await refusal(t, stranger, 'database-login-refused'), /stranger/);
});

test('a connection without a password, to a server that requires one, is refused', async (t) => {
  const port = await startPasswordServer(t);
  const message = await refusal(t, `postgres://me@127.0.0.1:${port}/x`, 'database-login-refused');
  assert.match(message, /postgres:\/\/me@127\.0\.0\.1:\d+\/x requires a password.*PGPASSWORD/);
});

test('a user without privileges, a foreign database and another encoding are refused', async (t) => {
  const url = await newDatabase(t, { isEmpty: true });
  const postgres = await sharedPostgres();
  const role = `role_${randomUUID().slice(0, 8)}`;
  await postgres.query(`create role ${role} login`);
  t.after(() => postgres.query(`drop role ${role}`));
  assert.match(await refusal(t, changed(url, /postgres@/, `${role}@`), 'database-privileges'), /owner/);

  const db = connect(t, url);
  await db.raw('create table accounts (mine text)');
  await refusal(t, url, 'database-foreign');
  assert.deepEqual(
    await db('information_schema.tables').where({ table_schema: 'public' }).pluck('table_name'),
    ['accounts'],
  );

  const name = `ascii_${randomUUID().slice(0, 8)}`;
  await postgres.query(
    `create database ${name} template template0 encoding SQL_ASCII locale_provider libc locale 'C'`,
  );
  t.after(() => postgres.query(`drop database ${name}`));
  assert.match(await refusal(t, postgres.url(name), 'database-encoding'), /-E UTF8/);
});

test('a server that is too old and a standby are refused', async () => {
  const server = (version: string, is_standby: boolean) =>
    ({ raw: async () => ({ rows: [{ version, encoding: 'UTF8', is_standby }] }) }) as unknown as Knex;
  await preparePg(server('14.0 (Debian 14.0-1)', false), 'here');
  await assert.rejects(preparePg(server('13.14', false), 'here'), { code: 'database-too-old' });
  await assert.rejects(preparePg(server('17.2', true), 'here'), { code: 'database-read-only' });
});

test('a newer schema is refused, and an older one is migrated only by the daemon', async (t) => {
  const url = await newDatabase(t, { isEmpty: true });
  const options = await optionsFor(t, url);
  const db = connect(t, url);
  await db.migrate.latest(migratorConfig('pg', migrations.slice(0, -1)));
  await db('schema_migrations').insert({ name: '9999_future', batch: 1, migration_time: new Date() });
  assert.match(await refusal(t, url, 'database-newer'), /9999_future/);
  await db('schema_migrations').where({ name: '9999_future' }).delete();
  await refusal(t, url, 'database-older');

  const events: MigrationEvent[] = [];
  const daemon = await openDaemonStore({ ...options, onMigration: (event) => events.push(event) });
  t.after(() => daemon.close());
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['started', 'finished'],
  );
  assert.equal(await daemon.check(), null);
  assert.ok(Number(await daemon.size()) > 0);
  await assert.rejects(openDaemonStore({ ...options, onMigration: () => {} }), { code: 'daemon-running' });
  await assert.rejects(daemon.backup('/nowhere'), /pg_dump/);
});

test('of several daemons that start at once on an empty database, one creates the tables', async (t) => {
  const url = await newDatabase(t, { isEmpty: true });
  const started = await Promise.all(
    Array.from({ length: 4 }, async () =>
      openDaemonStore({
        ...(await optionsFor(t, url)),
        onMigration: () => assert.fail('a new database needs no migration'),
      }),
    ),
  );
  t.after(() => Promise.all(started.map((store) => store.close())));
  await Promise.all(
    started.map((store, n) => addAccount(store.accounts, account({ username: `player-${n}` }))),
  );
  for (const store of started) assert.equal((await store.accounts.all()).length, 4);
});

test('a command creates no tables in an empty database, unless it is allowed to', async (t) => {
  const options = await optionsFor(t, await newDatabase(t, { isEmpty: true }));
  await assert.rejects(openStore({ ...options, mayCreate: false }), { code: 'database-missing' });
  await (await openStore(options)).close();
  await (await openStore({ ...options, mayCreate: false })).close();
});

test('TLS is used and verified as the connection string says', needs('openssl'), async (t) => {
  const { certFile, keyFile } = makeCertificate(t, { names: 'DNS:localhost' });
  const port = await freePort();
  const postgres = await startPostgres({ listen_addresses: '127.0.0.1', port: String(port) });
  t.after(() => postgres.remove());
  const url = (parameters: string) => `postgres://postgres@localhost:${port}/postgres${parameters}`;
  assert.match(await refusal(t, url('?sslmode=require'), 'database-unreachable'), /SSL/);

  const files = await Promise.all(
    [certFile, keyFile].map(async (file, n) => {
      const copy = join(postgres.folder, `tls-${n}.pem`);
      await copyFile(file, copy);
      await chmod(copy, 0o600);
      if (process.getuid?.() === 0) await chown(copy, 65_534, 65_534);
      return copy;
    }),
  );
  for (const [n, setting] of ['ssl_cert_file', 'ssl_key_file'].entries()) {
    await postgres.query(`alter system set ${setting} = '${files[n]}'`);
  }
  await postgres.query("alter system set ssl = 'on'");
  await postgres.stop();
  await postgres.start();
  assert.match(await refusal(t, url('?sslmode=verify-full'), 'database-tls'), /sslrootcert=FILE/);
  const trusted = `?sslmode=verify-full&sslrootcert=${certFile}`;
  const otherHostName = changed(url(trusted), /localhost/, '127.0.0.1');
  assert.match(await refusal(t, otherHostName, 'database-tls'), /is for another name/);
  for (const parameters of ['?sslmode=require', trusted]) {
    const db = connect(t, url(parameters));
    const { rows } = await db.raw('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    assert.deepEqual(rows, [{ ssl: true }], parameters);
  }
});

test('a list query that takes too long is cancelled, and the next one works', async (t) => {
  const reads = connectPgReaders(await newDatabase(t), { readers: 1, timeoutMs: 1000 });
  t.after(() => reads.destroy());
  await assert.rejects(reads.raw('select pg_sleep(60)').then(), { name: 'QueryTooSlowError' });
  const { rows } = await reads.raw('select 1 as one');
  assert.deepEqual(rows, [{ one: 1 }]);
});

test('a NUL, which PostgreSQL cannot store, becomes the replacement character', async (t) => {
  const store = await openStore(await optionsFor(t, await newDatabase(t)));
  t.after(() => store.close());
  await store.settings.set('key', 'a\0b');
  assert.equal(await store.settings.get('key'), 'a\uFFFDb');
});

test('with SQLite the package pg is not loaded', async (t) => {
  const program = `
    import { createRequire } from 'node:module';
    import { openStore } from ${JSON.stringify(new URL('../../../src/store/store.js', import.meta.url).href)};
    const store = await openStore({ client: 'auto', dataDir: process.argv[2], busyTimeoutMs: 1000 });
    await store.close();
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify(['knex', 'pg'].map((name) => loaded.some((file) => file.includes('/node_modules/' + name + '/')))));`;
  const folder = await tempDir(t);
  await writeFile(join(folder, 'program.mjs'), program);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs'), folder]);
  assert.deepEqual(JSON.parse(stdout), [true, false]);
});
