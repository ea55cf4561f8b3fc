// Real clients against the running daemon. A test is skipped when its program is not installed.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { SocksClient } from 'socks';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { IPV6, needs, OPENBSD_NC, PYTHON_SOCKS } from '../helpers/programs.js';
import { startSshServer } from '../helpers/ssh-server.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

const run = promisify(execFile);
const TIMEOUT_MS = 30_000;
// The password has special characters of URLs, shells and configuration files that every client supports.
const PLAYER = { username: 'player', password: 'p4ss-w.rd_~' };

describe('real clients', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  /** The port of a web server. */
  let web: number;

  before(async () => {
    daemon = await startTestDaemon(scope);
    await daemon.addAccount(PLAYER.username, PLAYER.password);
    web = await startWeb('127.0.0.1');
  });

  async function startWeb(host: string): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(`hello ${Buffer.concat(chunks).length}`));
    });
    server.listen(0, host);
    await once(server, 'listening');
    scope.after(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  const proxy = () => `${PLAYER.username}:${PLAYER.password}@127.0.0.1:${daemon.socks.port}`;

  for (const [kind, scheme, host] of [
    ['an address, resolved by curl', 'socks5', '127.0.0.1'],
    ['a name, resolved by the daemon', 'socks5h', 'localhost'],
    ['an IPv6 address', 'socks5', '[::1]'],
    ['an IPv6 address, sent as a name', 'socks5h', '[::1]'],
  ] as const) {
    const isIpv6 = host === '[::1]';
    it(`curl ${scheme} reaches ${kind}`, needs('curl', ...(isIpv6 ? [IPV6] : [])), async () => {
      const url = `http://${host}:${isIpv6 ? await startWeb('::1') : web}/`;
      const { stdout } = await run('curl', ['-sS', '-m', '20', '-x', `${scheme}://${proxy()}`, url], {
        timeout: TIMEOUT_MS,
      });
      assert.equal(stdout, 'hello 0');
    });
  }

  it('curl uploads a large body', needs('curl'), async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'interop-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'body'), Buffer.alloc(20_000_000, 'x'));
    const { stdout } = await run(
      'curl',
      [
        '-sS',
        '-m',
        '20',
        '-x',
        `socks5h://${proxy()}`,
        '--data-binary',
        `@${join(folder, 'body')}`,
        `http://localhost:${web}/`,
      ],
      { timeout: TIMEOUT_MS },
    );
    assert.equal(stdout, 'hello 20000000');
  });

  it('curl reports a wrong password', needs('curl'), async () => {
    const wrong = `socks5h://${PLAYER.username}:wrong@127.0.0.1:${daemon.socks.port}`;
    const failed = run('curl', ['-sS', '-m', '20', '-x', wrong, `http://localhost:${web}/`], {
      timeout: TIMEOUT_MS,
    });
    await assert.rejects(failed, { code: 97 }); // curl's CURLE_PROXY
  });

  it('ncat connects through the daemon', needs('ncat'), async (t) => {
    const target = await startTarget(t, echo);
    const child = spawn('ncat', [
      ...[
        '--proxy',
        `127.0.0.1:${daemon.socks.port}`,
        '--proxy-type',
        'socks5',
        '--proxy-auth',
        `${PLAYER.username}:${PLAYER.password}`,
      ],
      ...['127.0.0.1', String(target.port)],
    ]);
    t.after(() => child.kill('SIGKILL'));
    child.stdin.end('through ncat');
    const [answer] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(answer.toString(), 'through ncat');
  });

  it(
    'proxychains4 connects a program without support for proxies',
    needs('proxychains4', 'curl'),
    async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'interop-'));
      t.after(() => rm(folder, { recursive: true }));
      const file = join(folder, 'proxychains.conf');
      const line = `socks5 127.0.0.1 ${daemon.socks.port} ${PLAYER.username} ${PLAYER.password}`;
      await writeFile(file, `strict_chain\nproxy_dns\n[ProxyList]\n${line}\n`);
      const { stdout } = await run(
        'proxychains4',
        ['-q', '-f', file, 'curl', '-sS', '-m', '20', `http://localhost:${web}/`],
        {
          timeout: TIMEOUT_MS,
        },
      );
      assert.equal(stdout, 'hello 0');
    },
  );

  it('python3-socks connects with a name that the daemon resolves', needs(PYTHON_SOCKS), async () => {
    const program = `
import socks, sys
s = socks.socksocket(); s.settimeout(20)
s.set_proxy(socks.SOCKS5, '127.0.0.1', int(sys.argv[1]), rdns=True, username=sys.argv[2], password=sys.argv[3])
s.connect(('localhost', int(sys.argv[4])))
s.sendall(b'GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n')
print(b''.join(iter(lambda: s.recv(4096), b'')).decode().split('\\r\\n\\r\\n')[1], end='')
`;
    const { username, password } = PLAYER;
    const args = ['-c', program, String(daemon.socks.port), username, password, String(web)];
    const { stdout } = await run('/usr/bin/python3', args, { timeout: TIMEOUT_MS });
    assert.equal(stdout, 'hello 0');
  });

  it('the socks package of npm connects', async (t) => {
    const target = await startTarget(t, echo);
    const { socket } = await SocksClient.createConnection({
      proxy: {
        host: '127.0.0.1',
        port: daemon.socks.port,
        type: 5,
        userId: PLAYER.username,
        password: PLAYER.password,
      },
      command: 'connect',
      destination: { host: 'localhost', port: target.port },
    });
    socket.end('through npm');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    assert.equal(Buffer.concat(chunks).toString(), 'through npm');
  });

  it('ssh runs a command through the daemon', needs('ssh', 'sshd', 'ssh-keygen', 'ncat'), async (t) => {
    const ssh = await startSshServer(t);
    // ssh uses ncat as its ProxyCommand, because nc of OpenBSD cannot log in to a SOCKS5 proxy.
    const command = `ncat --proxy 127.0.0.1:${daemon.socks.port} --proxy-type socks5 --proxy-auth ${PLAYER.username}:${PLAYER.password} %h %p`;
    const { stdout } = await run(
      'ssh',
      [...ssh.options, '-o', `ProxyCommand=${command}`, ssh.target, 'echo through ssh'],
      {
        timeout: TIMEOUT_MS,
      },
    );
    assert.equal(stdout, 'through ssh\n');
  });

  it('nc -X 5 -x, which cannot log in, reports that no method is accepted', needs(OPENBSD_NC), async () => {
    const failed = run('nc', ['-X', '5', '-x', `127.0.0.1:${daemon.socks.port}`, '127.0.0.1', String(web)], {
      timeout: TIMEOUT_MS,
    });
    await assert.rejects(failed, (error: { stderr: string }) =>
      /proxy|authentication|method/i.test(error.stderr),
    );
  });
});
