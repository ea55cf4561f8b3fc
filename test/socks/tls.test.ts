// Listeners with a certificate: SOCKS5 and the HTTP proxy inside TLS.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { before, describe, it } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { makeCertificate, servedAt, type TestCertificate } from '../helpers/certificate.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, connectStatus, readHead } from '../helpers/http-proxy-client.js';
import { needs } from '../helpers/programs.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const run = promisify(execFile);
const BULK = 4_000_000;

describe('a listener with a certificate', needs('openssl'), () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let certificate: TestCertificate;
  let secretFile: string;
  let target: Target;
  let port: number;

  before(async () => {
    certificate = makeCertificate(scope);
    const { certFile: cert, keyFile: key } = certificate;
    secretFile = `${cert}.secret`;
    writeFileSync(secretFile, 'a secret for webhooks of 32 characters');
    daemon = await startTestDaemon(scope, {
      config: {
        webhooks: { enabled: true, secretFile },
        socks: {
          workers: 2,
          handshakeTimeout: '8s',
          login: { maxFailuresPerUser: 3 },
          listeners: [{ host: '127.0.0.1', port: 0, tls: { cert, key } }],
        },
      },
    });
    target = await startTarget(scope, echo);
    await daemon.addAccount('player', 'secret');
    const ready = await daemon.waitForLine(({ msg }) => msg === 'ready');
    const [, address = ''] = ready['socks'] as string[];
    assert.match(address, /^tls:\/\/127\.0\.0\.1:\d+$/);
    port = Number(address.replace(/^.*:/, ''));
  });

  it('answers the check of /readyz/players, like the one without', async () => {
    const answer = await fetch(`${daemon.adminUrl}/readyz/players`);
    assert.deepEqual([answer.status, await answer.text()], [200, 'ok\n']);
  });

  async function connectTls(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...options,
    });
    await once(socket, 'secureConnect');
    return socket;
  }

  async function loggedIn(password = 'secret'): Promise<RawClient> {
    const client = new RawClient(await connectTls());
    client.send(Buffer.concat([greeting(2), login('player', password)]));
    return client;
  }

  it('serves SOCKS5, with the address of the client', async () => {
    const client = await loggedIn();
    client.send(request('127.0.0.1', target.port));
    assert.equal((await client.read(4)).toString('hex'), '05020100');
    assert.equal((await readReply(client)).code, 0);
    const { localPort } = client.socket;
    await eventually(async () => {
      const { items } = (await daemon.api('GET', '/api/v1/sessions')).json as {
        items: { client: unknown }[];
      };
      assert.deepEqual(items[0]?.client, { address: '127.0.0.1', port: localPort });
    });
    client.send('last bytes');
    client.socket.end();
    assert.equal((await client.readToEnd()).toString(), 'last bytes');
    await daemon.waitForLine((line) => line.msg === 'session ended' && line['client'] === '127.0.0.1');
  });

  it('relays much data in both directions at once', async () => {
    const client = await loggedIn();
    client.send(request('127.0.0.1', target.port));
    await client.read(4);
    await readReply(client);
    client.send(Buffer.alloc(BULK, 'x'));
    assert.ok((await client.read(BULK)).every((byte) => byte === 0x78));
    client.destroy();
  });

  it('is an HTTPS proxy for curl', needs('curl'), async () => {
    const web = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(web, 'listening');
    scope.after(() => web.close());
    const url = `http://localhost:${(web.address() as AddressInfo).port}/`;
    const proxy = ['-x', `https://player:secret@localhost:${port}`, '--proxy-cacert', certificate.certFile];
    for (const tunnel of [[], ['--proxytunnel']]) {
      const { stdout } = await run('curl', ['-sS', '-m', '50', ...proxy, ...tunnel, url]);
      assert.equal(stdout, 'hello');
    }
  });

  it('negotiates HTTP/1.1 or no protocol (ALPN)', async () => {
    for (const [offered, negotiated] of [
      [['h2', 'http/1.1'], 'http/1.1'],
      [[], false],
    ] as const) {
      const socket = await connectTls({ ALPNProtocols: [...offered] });
      assert.equal(socket.alpnProtocol, negotiated);
      socket.destroy();
    }
    await assert.rejects(connectTls({ ALPNProtocols: ['h2'] }), /alert|no application protocol/i);
  });

  it('does not renegotiate', async () => {
    const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_2'], {
      stdio: 'pipe',
    });
    let output = '';
    const listen = (chunk: Buffer): void => {
      output += chunk.toString();
      // A line with R makes openssl request a renegotiation.
      if (/^---$/m.test(output) && client.stdin.writable && !output.includes('RENEGOTIATING'))
        client.stdin.write('R\n');
    };
    client.stdout.on('data', listen);
    client.stderr.on('data', listen);
    client.stdin.on('error', () => {});
    await once(client, 'close');
    assert.match(output, /RENEGOTIATING.*no renegotiation/s);
  });

  it('counts failed logins for the client behind TLS', async () => {
    for (let i = 0; i < 3; i += 1) {
      const client = await loggedIn('wrong');
      assert.equal((await client.readToEnd()).toString('hex'), '05020101');
      client.destroy();
    }
    const failed = await daemon.waitForLine(({ msg }) => msg === 'login failed');
    assert.equal(failed['client'], '127.0.0.1');
    // The failures count for the source on listeners without TLS, too.
    assert.equal(await connectStatus(daemon.socks.port, `127.0.0.1:${target.port}`), 407);
    await daemon.addAccount('other', 'secret');
  });

  it('cannot be reached as a destination', async () => {
    const fields = `Proxy-Authorization: ${basic('other', 'secret')}\r\n`;
    assert.equal(await connectStatus(daemon.socks.port, `127.0.0.1:${port}`, fields), 403);
  });

  it('closes connections that do not use TLS or stall', async () => {
    const plain = await RawClient.connect(port);
    plain.send(greeting(2));
    await plain.closed();
    const silent = new RawClient(connectPlain({ port, host: '127.0.0.1', allowHalfOpen: true }));
    const idle = new RawClient(await connectTls());
    for (const client of [silent, idle]) {
      assert.equal((await client.readToEnd()).length, 0);
      client.destroy();
    }
  });

  it('uses a renewed certificate after SIGHUP, and keeps live connections', async () => {
    const client = new RawClient(await connectTls());
    const fields = `Proxy-Authorization: ${basic('other', 'secret')}\r\n`;
    client.send(connectHead(`127.0.0.1:${target.port}`, fields));
    assert.equal((await readHead(client)).status, 200);
    assert.equal(await servedAt(`https://127.0.0.1:${port}`), certificate.fingerprint);
    const renewed = makeCertificate(scope);
    copyFileSync(renewed.certFile, certificate.certFile);
    copyFileSync(renewed.keyFile, certificate.keyFile);
    daemon.signal('SIGHUP');
    await daemon.waitForLine(({ msg }) => msg.startsWith('configuration reloaded'));
    await eventually(async () =>
      assert.equal(await servedAt(`https://127.0.0.1:${port}`), renewed.fingerprint),
    );
    const { text } = await daemon.api('GET', '/metrics');
    const [, end] =
      /^pulsegate_listener_certificate_expiry_seconds\{(?=.*listener="socks\.listeners\[0\]").*\} (\S+)$/m.exec(
        text,
      ) ?? [];
    assert.equal(Number(end), Date.parse(new X509Certificate(readFileSync(renewed.certFile)).validTo) / 1000);
    // With a key of another certificate, the old pair stays.
    copyFileSync(makeCertificate(scope).keyFile, certificate.keyFile);
    daemon.signal('SIGHUP');
    await daemon.waitForLine(({ msg }) => msg.startsWith('configuration reload failed'));
    assert.equal(await servedAt(`https://127.0.0.1:${port}`), renewed.fingerprint);
    // The same where another file is broken.
    const next = makeCertificate(scope);
    copyFileSync(next.certFile, certificate.certFile);
    copyFileSync(next.keyFile, certificate.keyFile);
    writeFileSync(secretFile, '');
    daemon.signal('SIGHUP');
    await daemon.waitForLine(
      ({ msg, ...fields }) =>
        msg.startsWith('configuration reload failed') &&
        JSON.stringify(fields).includes('webhooks.secretFile'),
    );
    assert.equal(await servedAt(`https://127.0.0.1:${port}`), renewed.fingerprint);
    client.send('still here');
    assert.equal((await client.read(10)).toString(), 'still here');
    client.destroy();
  });
});
