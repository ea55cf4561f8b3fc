// The daemon with admin.tls: HTTPS, reloading the certificate on SIGHUP, and invalid pairs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { makeCertificate, servedAt, type TestCertificate } from '../helpers/certificate.js';
import { commandLine, runCommand } from '../helpers/command.js';
import { ADMIN, plainEnvironment, startTestDaemon } from '../helpers/daemon.js';
import { basic, send } from '../helpers/http.js';
import { needs } from '../helpers/programs.js';
import { type Scope, suiteScope } from '../helpers/suite.js';

const LIST = '/ProxyAccount/GetProxyAccountList';
const authorization = basic(ADMIN.username, ADMIN.password);
const tlsOf = ({ certFile, keyFile }: TestCertificate) => ({ cert: certFile, key: keyFile });

describe('a daemon with admin.tls', needs('openssl'), async () => {
  const scope = suiteScope();
  const own = makeCertificate(scope);
  const daemon = await startTestDaemon(scope, { config: { admin: { tls: tlsOf(own) } } });
  const ask = (method: string, path: string, headers: Record<string, string> = {}, json?: unknown) =>
    send(daemon.adminUrl + path, {
      ca: own.cert,
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: json === undefined ? undefined : JSON.stringify(json),
    });

  it('has https:// in its ready line, and serves only HTTPS', async () => {
    assert.match(daemon.adminUrl, /^https:\/\/127\.0\.0\.1:\d+$/);
    const added = await ask('POST', '/ProxyAccount/AddProxyAccount', {}, { Username: 'a', Password: 'b' });
    assert.equal(added.status, 200, added.text);
    const [account] = (await ask('GET', LIST)).json as { Username: string }[];
    assert.equal(account?.Username, 'a');
    const plain = await send(daemon.adminUrl.replace('https:', 'http:') + LIST, {
      headers: { authorization },
    });
    assert.equal(plain.status, 400);
    assert.match(plain.text, /https:/);
  });

  it('sends HSTS for one day and this host only', async () => {
    for (const path of ['/', LIST, '/healthz'])
      assert.equal((await ask('GET', path)).headers['strict-transport-security'], 'max-age=86400', path);
  });

  it('sets a Secure, SameSite=Strict console cookie', async () => {
    const signedIn = await ask(
      'POST',
      '/api/v1/session',
      { authorization: '', origin: daemon.adminUrl },
      ADMIN,
    );
    assert.equal(signedIn.status, 200, signedIn.text);
    const [set = ''] = signedIn.headers['set-cookie'] ?? [];
    assert.match(set, /; HttpOnly; SameSite=Strict; Secure$/);
    const cookie = set.split(';')[0] ?? '';
    const changeFrom = (origin: string) =>
      send(`${daemon.adminUrl}/api/v1/settings/whitelist`, {
        ca: own.cert,
        method: 'PUT',
        headers: { cookie, origin, 'content-type': 'application/json' },
        body: '{"whitelist":""}',
      });
    assert.equal((await changeFrom(daemon.adminUrl)).status, 200);
    const { port } = new URL(daemon.adminUrl);
    for (const origin of ['https://evil.example', `https://127.0.0.1:${Number(port) + 1}`])
      assert.ok([401, 403].includes((await changeFrom(origin)).status), origin);
  });

  it('reports the expiry of its certificate in the metrics', async () => {
    const { text } = await send(`${daemon.adminUrl}/metrics`, { ca: own.cert });
    const [, seconds] = /^pulsegate_admin_certificate_expiry_seconds(?:\{.*\})? (\d+)$/m.exec(text) ?? [];
    assert.equal(Number(seconds), own.expiresAt / 1000);
  });

  it('is recognised by doctor, which checks the certificate', async () => {
    const env = {
      PULSEGATE_SOCKS__PORT: String(daemon.socks.port),
      PULSEGATE_ADMIN__PORT: new URL(daemon.adminUrl).port,
    };
    const { code, stdout } = await runCommand(dirname(daemon.configFile), ['doctor'], { env });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /ok +admin port: \d+ in use by the running daemon/);
    assert.match(stdout, /ok +admin certificate: valid for (29|30) more days/);
  });

  it('does not log its key', () => {
    const secret = own.keyText.split('\n')[1] ?? '';
    assert.ok(!(JSON.stringify(daemon.lines) + daemon.stderr()).includes(secret));
  });
});

describe('a daemon with admin.tls on SIGHUP', needs('openssl'), async () => {
  const scope = suiteScope();
  const configured = makeCertificate(scope);
  const daemon = await startTestDaemon(scope, { config: { admin: { tls: tlsOf(configured) } } });
  const yaml = await readFile(daemon.configFile, 'utf8');
  const url = daemon.adminUrl;
  const signalHup = async (message: string) => {
    const before = daemon.lines.length;
    daemon.signal('SIGHUP');
    return daemon.waitForLine((line) => daemon.lines.indexOf(line) >= before && line.msg.includes(message));
  };
  /** Lets the daemon load this pair by the changed configuration. */
  async function configure({ certFile, keyFile }: TestCertificate): Promise<void> {
    const changed = yaml.replace(configured.certFile, certFile).replace(configured.keyFile, keyFile);
    await writeFile(daemon.configFile, changed);
    await signalHup('configuration reloaded');
  }

  it('loads a new pair of certificate and key, and keeps the old pair when the new one is invalid', async (t) => {
    const [first, second, third] = [makeCertificate(t), makeCertificate(t), makeCertificate(t)];
    await configure(first);
    const replaceFiles = async ({ certFile, keyFile }: TestCertificate) => {
      await copyFile(certFile, first.certFile);
      await copyFile(keyFile, first.keyFile);
    };
    assert.equal(await servedAt(url), first.fingerprint);
    await replaceFiles(second);
    await signalHup('configuration reloaded');
    assert.equal(await servedAt(url), second.fingerprint);

    await copyFile(third.keyFile, first.keyFile);
    const line = await signalHup('configuration reload failed');
    assert.equal(line['level'], 'error');
    assert.match(JSON.stringify(line), /admin\.tls\.key: the private key in \S+key\.pem does not match/);
    assert.equal(await servedAt(url), second.fingerprint);
    await writeFile(first.certFile, 'half a certific');
    await signalHup('configuration reload failed');
    assert.equal((await send(url + LIST, { ca: second.cert, headers: { authorization } })).status, 200);

    await replaceFiles(third);
    await signalHup('configuration reloaded');
    assert.equal(await servedAt(url), third.fingerprint);
  });

  it('loads the pair of files that the changed configuration names', async (t) => {
    const [first, second] = [makeCertificate(t), makeCertificate(t)];
    for (const each of [first, second]) {
      await configure(each);
      assert.equal(await servedAt(url), each.fingerprint);
    }
  });
});

describe('admin.tls', needs('openssl'), () => {
  it('stops the start and fails `config check` when the pair is invalid, before a file is created', async (t) => {
    const [own, other] = [makeCertificate(t), makeCertificate(t)];
    const pairs: [string, string, RegExp][] = [
      ['missing.pem', own.keyFile, /admin\.tls\.cert: the file missing\.pem cannot be read \(ENOENT\)/],
      [
        own.certFile,
        other.keyFile,
        /admin\.tls\.key: the private key in \S+ does not match the certificate in /,
      ],
    ];
    for (const [cert, key, message] of pairs) {
      const cli = await commandLine(t, `admin: { port: 0, tls: { cert: ${cert}, key: ${key} } }`);
      for (const command of [['serve'], ['config', 'check']]) {
        const { code, stderr } = await cli.run(command);
        assert.equal(code, 2, stderr);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /^ +at /m);
      }
      await assert.rejects(readFile(join(cli.folder, 'data/pulsegate.db')), { code: 'ENOENT' });
    }
  });

  it('is shown by `config print` as two paths', async (t) => {
    const own = makeCertificate(t);
    const cli = await commandLine(t, `admin: { tls: { cert: ${own.certFile}, key: ${own.keyFile} } }`);
    assert.equal((await cli.run(['config', 'check'])).code, 0);
    const { stdout } = await cli.run(['config', 'print']);
    assert.ok(stdout.includes(own.keyFile));
    assert.doesNotMatch(stdout, /BEGIN/);
  });
});

describe('doctor with admin.tls', needs('openssl'), () => {
  it('no longer warns about missing TLS, and still about an empty whitelist', async (t) => {
    const { certFile, keyFile } = makeCertificate(t);
    const cli = await commandLine(t, 'admin: { host: 0.0.0.0, port: 0 }\nsocks: { port: 0 }');
    const exposure = async (env: Record<string, string> = {}) => {
      const { stdout } = await cli.run(['doctor'], { env });
      return /^.*admin exposure.*$/m.exec(stdout)?.[0] ?? '';
    };
    const withTls = { PULSEGATE_ADMIN__TLS__CERT: certFile, PULSEGATE_ADMIN__TLS__KEY: keyFile };
    assert.match(await exposure(), /^warn .*without TLS and the whitelist is empty/);
    assert.match(
      await exposure(withTls),
      /^warn .*0\.0\.0\.0 is reachable from outside and the whitelist is/,
    );
    await cli.run(['admin', 'set-password', '--password-stdin'], { stdin: ADMIN.password });
    const set = await cli.run(['whitelist', 'set', '192.0.2.1']);
    assert.equal(set.code, 0, set.stderr);
    assert.match(await exposure(), /^warn .*without TLS; set admin\.tls/);
    assert.match(await exposure(withTls), /^ok .*over HTTPS/);
  });
});

describe('the first start with admin.tls', needs('openssl', 'curl'), () => {
  for (const [kind, names] of [
    ['for the address', 'IP:127.0.0.1'],
    ['for a name', 'DNS:*.console.example,DNS:console.example'],
    ['for no name of its own', 'DNS:*.console.example'],
  ] as const) {
    it(`shows commands that work with a certificate ${kind}`, async (t: Scope) => {
      const own = makeCertificate(t, { names });
      const daemon = await startTestDaemon(t, {
        config: { admin: { tls: tlsOf(own) } },
        env: { PULSEGATE_ADMIN_PASSWORD: '' },
      });
      const commands = daemon.stderr().split('\n');
      const list = commands.find((line) => line.includes(LIST)) ?? '';
      assert.match(list, /^ +curl .*https:\/\//);
      const run = promisify(execFile);
      const env = Object.fromEntries(
        Object.entries(plainEnvironment()).filter(([name]) => !/proxy/i.test(name)),
      );
      const { stdout } = await run('sh', ['-c', `${list} --silent --show-error --max-time 10`], { env });
      assert.equal(stdout, '[]');
      assert.equal(list.includes('--insecure'), kind === 'for no name of its own');
    });
  }
});
