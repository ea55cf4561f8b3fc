// Real clients of an HTTP proxy against the running daemon. A test is skipped when its program is not installed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { makeCertificate } from '../helpers/certificate.js';
import { findChromium, launchBrowser } from '../helpers/console-browser.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { needs, skipFor } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const PLAYER = { username: 'player', password: 'p4ss-w.rd_~' };
const COMMIT = '1'.repeat(40);

/** Serves what `git ls-remote` and `npm ping` request, and otherwise a page with the number of bytes of the upload. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '', 'http://x').pathname;
  if (path === '/repo.git/info/refs') return void response.end(`${COMMIT}\trefs/heads/main\n`);
  if (path === '/repo.git/HEAD') return void response.end('ref: refs/heads/main\n');
  if (path === '/-/ping') return void response.setHeader('content-type', 'application/json').end('{}');
  let bytes = 0;
  request.on('data', ({ length }: Buffer) => {
    bytes += length;
  });
  request.on('end', () => response.end(`hello ${bytes}`));
}

/** Returns whether a client sends the credentials of its proxy URL, at once or after 407, to a proxy that refuses every request. */
async function sendsCredentials(request: (proxy: string) => Promise<unknown>): Promise<boolean> {
  let wereSent = false;
  const refusing = createPlainServer().listen(0, '127.0.0.1');
  refusing.on('connect', ({ headers }: IncomingMessage, socket: Socket) => {
    wereSent ||= headers['proxy-authorization'] !== undefined;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n');
  });
  await once(refusing, 'listening');
  const { port } = refusing.address() as AddressInfo;
  await request(`http://${PLAYER.username}:${PLAYER.password}@127.0.0.1:${port}`).catch(() => {});
  refusing.close();
  return wereSent;
}

describe('real clients of the HTTP proxy', needs('openssl'), () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let secure: string;
  let plain: string;

  before(async () => {
    daemon = await startTestDaemon(scope);
    await daemon.addAccount(PLAYER.username, PLAYER.password);
    const { cert, keyText } = makeCertificate(scope);
    const server = createServer({ cert, key: keyText }, serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope.after(() => server.close());
    const plainServer = createPlainServer(serve).listen(0, '127.0.0.1');
    await once(plainServer, 'listening');
    scope.after(() => plainServer.close());
    plain = `http://localhost:${(plainServer.address() as AddressInfo).port}`;
    secure = `https://localhost:${(server.address() as AddressInfo).port}`;
  });

  const proxy = (password = PLAYER.password): string =>
    `http://${PLAYER.username}:${password}@127.0.0.1:${daemon.socks.port}`;
  const outputOf = async (program: string, args: readonly string[], env = {}): Promise<string> =>
    (await run(program, args, { timeout: TIMEOUT_MS, env: { ...process.env, ...env } })).stdout;

  it('curl uses the proxy for HTTP and HTTPS', needs('curl'), async () => {
    const curl = (...args: string[]): Promise<string> => outputOf('curl', ['-sSk', '-m', '50', ...args]);
    assert.equal(await curl('-x', proxy(), `${secure}/`), 'hello 0');
    assert.equal(await curl('-x', proxy(), '--proxy-anyauth', `${secure}/`), 'hello 0');
    await assert.rejects(curl('-x', proxy('wrong'), `${secure}/`), /407/);
    assert.equal(await curl('-x', proxy(), `${plain}/`, `${plain}/`), 'hello 0hello 0');
    assert.equal(
      await curl('-x', proxy(), '-d', 'abc', '-H', 'Expect: 100-continue', `${plain}/`),
      'hello 3',
    );
    assert.equal(await curl('-0', '-x', proxy(), `${plain}/`), 'hello 0');
    assert.equal(
      await curl('-x', proxy('wrong'), '-o', '/dev/null', '-w', '%{http_code}', `${plain}/`),
      '407',
    );
  });

  it('git lists a repository through the proxy', needs('git'), async () => {
    const settings = ['-c', `http.proxy=${proxy()}`, '-c', 'http.sslVerify=false'];
    for (const web of [secure, plain]) {
      const refs = await outputOf('git', [...settings, 'ls-remote', `${web}/repo.git`]);
      assert.match(refs, new RegExp(`^${COMMIT}\\s+refs/heads/main$`, 'm'));
    }
  });

  it('npm reaches a registry through the proxy', needs('npm'), async (t) => {
    const ping = (through: string): Promise<string> => {
      const settings = [`--https-proxy=${through}`, '--strict-ssl=false', `--registry=${secure}/`, '--json'];
      return outputOf('npm', ['ping', '--fetch-retries=0', ...settings]);
    };
    // Debian's npm 9.2 sends no credentials to any proxy.
    if (!(await sendsCredentials(ping))) return skipFor(t, 'this npm sends no credentials to a proxy');
    assert.match(await ping(proxy()), /"details"/);
  });

  it('Python uploads through the proxy', needs('python3'), async () => {
    const program = `
import ssl, sys, urllib.request
context = ssl._create_unverified_context()
print(urllib.request.urlopen(sys.argv[1], context=context, data=b'x' * 100000).read().decode(), end='')
`;
    const env = { https_proxy: proxy(), http_proxy: proxy(), no_proxy: '' };
    for (const web of [secure, plain])
      assert.equal(await outputOf('python3', ['-c', program, `${web}/`], env), 'hello 100000');
  });

  it('Chromium opens pages through the proxy after its login prompt', {
    skip: findChromium() === undefined,
  }, async (t) => {
    const browser = await launchBrowser({ server: `http://127.0.0.1:${daemon.socks.port}`, ...PLAYER });
    t.after(() => browser.close());
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    for (const web of [plain, secure]) {
      await page.goto(`${web}/`);
      assert.equal(await page.textContent('body'), 'hello 0');
    }
    await daemon.waitForLine(
      ({ msg, clientProtocol }) => msg === 'session ended' && clientProtocol === 'http',
    );
  });
});
