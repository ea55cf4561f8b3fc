// Measures what scans reach with the guard and without, and what programs of a household open with its default limits.
//   npm run --silent build:program && node dist/test/bench/guard.js [--seconds 60] [--only scans] [--only download]
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { networkInterfaces } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../helpers/certificate.js';
import { launchBrowser } from '../helpers/console-browser.js';
import { type LogLine, NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { startNameServer } from '../helpers/name-server.js';
import {
  connectThrough,
  loggedInClient,
  readReply,
  request,
  type SocksLogin,
} from '../helpers/socks-client.js';
import type { Scope } from '../helpers/suite.js';
import { startTarget } from '../helpers/targets.js';
import { associateThrough, startUdpEcho, UdpEnd } from '../helpers/udp-client.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, only: { type: 'string', default: '' } },
});
const SECONDS = Number(values.seconds);
const PASSWORD = 'secret';
const AT_ONCE = 64;
const closers: (() => unknown)[] = [];
const scope: Scope = { after: (close) => closers.push(close) };

/** One of 65,536 loopback addresses. */
const hostOf = (n: number): string => `127.${1 + ((n >> 16) & 7)}.${(n >> 8) & 255}.${n & 255}`;
/** The loopback address of a name: always the same one. */
const addressOf = (name: string): string =>
  hostOf(Array.from(name).reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) & 0x7ffff, 7));

/** When the name server got each question. */
const askedAt: number[] = [];
const names = await startNameServer(
  scope,
  (name, family) => {
    askedAt.push(performance.now());
    // The helper searches all questions for each.
    names.questions.length = 0;
    return name.endsWith('.unknown.test') ? undefined : family === 4 ? [addressOf(name)] : [];
  },
  60,
);

try {
  if ('scans'.includes(values.only)) await scans();
  if (values.only !== 'scans') await programs();
} finally {
  for (const close of closers.reverse()) await close();
}

async function startDaemon(isGuarded: boolean): Promise<TestDaemon> {
  return startTestDaemon(scope, {
    config: {
      egress: { private: 'allow' },
      dns: {
        servers: [names.address],
        ...(isGuarded
          ? {}
          : { maxLookupsPerMinutePerAccount: 10_000_000, maxLookupsPerMinutePerSource: 10_000_000 }),
      },
      ...(isGuarded ? {} : { guard: NO_GUARD }),
    },
  });
}

type Login = SocksLogin & { readonly id: string };

async function login(daemon: TestDaemon, username: string): Promise<Login> {
  const id = await daemon.addAccount(username, PASSWORD);
  return { id, port: daemon.socks.port, username, password: PASSWORD };
}

// ── Scans ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How much one account reaches in each second of a scan. */
async function scans(): Promise<void> {
  console.log(
    `scans of one account, ${SECONDS} s each | guard | first second | a second, over all | a second, at the end`,
  );
  for (const isGuarded of [false, true]) {
    const daemon = await startDaemon(isGuarded);
    for (const [what, scan] of [
      ['TCP destinations by CONNECT', scanTcp],
      ['UDP destinations', scanUdp],
      ['questions to the name server', scanNames],
    ] as const) {
      const seconds = await scan(await login(daemon, what.slice(0, 3)));
      const all = seconds.reduce((a, b) => a + b, 0);
      const last = seconds.slice(-Math.ceil(SECONDS / 4));
      const end = last.reduce((a, b) => a + b, 0) / last.length;
      console.log(
        [what, isGuarded ? 'on' : 'off', seconds[0], Math.round(all / SECONDS), end.toFixed(1)].join(' | '),
      );
    }
    daemon.signal('SIGTERM');
    await daemon.exited();
  }
}

/** Counts events by second from now on. */
function bySecond(): { readonly seconds: number[]; readonly isOver: () => boolean; count(): void } {
  const startedAt = performance.now();
  const seconds = new Array<number>(SECONDS).fill(0);
  const second = () => Math.floor((performance.now() - startedAt) / 1_000);
  return {
    seconds,
    isOver: () => second() >= SECONDS,
    count() {
      const at = second();
      if (at < SECONDS) seconds[at] = (seconds[at] ?? 0) + 1;
    },
  };
}

async function connectAll(account: SocksLogin, host: (n: number) => string, port: number): Promise<number[]> {
  const { seconds, isOver, count } = bySecond();
  let next = 0;
  const scan = async (): Promise<void> => {
    while (!isOver()) {
      next += 1;
      const destination = host(next);
      const client = await loggedInClient(account);
      client.send(request(destination, port));
      if ((await readReply(client)).code === 0) count();
      client.destroy();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, scan));
  return seconds;
}

async function scanTcp(account: SocksLogin): Promise<number[]> {
  const target = await startTarget(
    scope,
    (socket) => socket.resume().on('end', () => socket.end()),
    '0.0.0.0',
  );
  return connectAll(account, hostOf, target.port);
}

async function scanNames(account: SocksLogin): Promise<number[]> {
  const [startedAt, before] = [performance.now(), askedAt.length];
  await connectAll(account, (n) => `n${n}.unknown.test`, 80);
  const asked = askedAt.slice(before).map((at) => Math.floor((at - startedAt) / 1_000));
  return Array.from({ length: SECONDS }, (_, second) => asked.filter((at) => at === second).length);
}

async function scanUdp(account: SocksLogin): Promise<number[]> {
  const server = await UdpEnd.open(scope, '0.0.0.0');
  const reached = new Set<string>();
  const client = await associateThrough(scope, account);
  const { seconds, isOver, count } = bySecond();
  server.socket.on('message', (data) => {
    const host = data.toString();
    if (reached.has(host)) return;
    reached.add(host);
    count();
  });
  for (let n = 1; !isOver(); n += 1) {
    client.send(hostOf(n), server.port, hostOf(n));
    if (n % 10 === 0) await wait(1);
  }
  client.control.destroy();
  return seconds;
}

// ── Programs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What programs open through a daemon with default limits. */
async function programs(): Promise<void> {
  console.log(
    'program | connections | at once | most in a second | most in a minute | destinations | UDP destinations | ' +
      'questions to the name server | most in 100 ms | what the daemon refused or slowed',
  );
  const daemon = await startDaemon(true);
  for (const [what, run] of [
    ['Chromium, 100 tabs, HTTP/2', (account: Login) => tabs(daemon, account, true)],
    ['Chromium, 100 tabs, HTTP/1.1', (account: Login) => tabs(daemon, account, false)],
    ['download, 2,000 chunks by 32 connections', download],
    ['server list, 500 servers asked twice', serverList],
    ['WebRTC, 100 candidates of the other side', ice],
  ] as const) {
    if (!what.includes(values.only)) continue;
    const account = await login(daemon, what.replace(/\W+/g, '-'));
    const [linesBefore, askedBefore] = [daemon.lines.length, askedAt.length];
    const udpDestinations = await run(account);
    await allEnded(daemon);
    const own = daemon.lines.slice(linesBefore).filter((line) => line['account'] === account.username);
    const streams = own.filter((line) => line.msg === 'session ended' && line['protocol'] !== 'udp');
    const spans = streams.map((line): [from: number, to: number] => {
      const to = new Date(line['time'] as string | number).getTime();
      return [to - Number(line['durationMs']), to];
    });
    const opened = spans.map(([from]) => from);
    const asked = askedAt.slice(askedBefore);
    console.log(
      [
        what,
        opened.length,
        opened.reduce(
          (most, at) => Math.max(most, spans.filter(([from, to]) => from <= at && at < to).length),
          0,
        ),
        mostWithin(opened, 1_000),
        mostWithin(opened, 60_000),
        new Set(streams.map((line) => line['destination'])).size,
        udpDestinations ?? 0,
        asked.length,
        mostWithin(asked, 100),
        refusals(own),
      ].join(' | '),
    );
  }
}

/** Except those of Chromium's own services, which do not exist here. */
function refusals(lines: readonly LogLine[]): string {
  const counts: Record<string, number> = {};
  for (const { msg, limit, slowed, refused, reason, destination, dropped } of lines) {
    if (msg === 'account limited')
      counts[`${limit} slowed`] = (counts[`${limit} slowed`] ?? 0) + Number(slowed);
    if (msg === 'account limited')
      counts[`${limit} refused`] = (counts[`${limit} refused`] ?? 0) + Number(refused);
    if (msg === 'destination refused' && String(destination).includes('.test:'))
      counts[String(reason)] = (counts[String(reason)] ?? 0) + 1;
    for (const [why, datagrams] of Object.entries((dropped ?? {}) as Record<string, number>))
      counts[why] = datagrams;
  }
  return (
    Object.entries(counts)
      .flatMap(([why, times]) => (times > 0 ? [`${why}: ${times}`] : []))
      .join(', ') || 'nothing'
  );
}

function mostWithin(times: readonly number[], spanMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted.reduce((most, from, i) => {
    const after = sorted.findIndex((time) => time >= from + spanMs);
    return Math.max(most, (after === -1 ? sorted.length : after) - i);
  }, 0);
}

async function allEnded(daemon: TestDaemon): Promise<void> {
  for (;;) {
    const { json } = await daemon.api('GET', '/api/v1/sessions');
    if ((json as { items: unknown[] }).items.length === 0) return;
    await wait(200);
  }
}

/**
 * Opens 100 pages: each of its own site, with 70 files of 15 hosts, 5 of the site and 10 of 80 that all sites share (HTTP Archive:
 * the median page has about 70 requests and 13 hosts).
 */
async function tabs(daemon: TestDaemon, { id }: Login, isSecure: boolean): Promise<void> {
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses: ['127.0.0.1'] });
  const scheme = isSecure ? 'https' : 'http';
  const answer = (
    url: string | undefined,
    response: { writeHead: ServerResponse['writeHead']; end(text: string): void },
    port: number,
  ): void => {
    const site = /^\/page(\d+)$/.exec(url ?? '')?.[1];
    response.writeHead(200, {
      'content-type': site ? 'text/html' : 'image/svg+xml',
      'cache-control': 'no-store',
    });
    if (site === undefined)
      return response.end('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
    const hosts = Array.from({ length: 15 }, (_, i) =>
      i < 5 ? `s${i}.site${site}.test` : `shared${(Number(site) * 7 + i * 11) % 80}.test`,
    );
    response.end(
      Array.from(
        { length: 70 },
        (_, i) => `<img src="${scheme}://${hosts[i % 15]}:${port}/${site}-${i}.svg">`,
      ).join(''),
    );
  };
  const certificate = isSecure ? makeCertificate(scope, { names: 'DNS:*.test' }) : null;
  const server = certificate
    ? createSecureServer(
        {
          cert: readFileSync(certificate.certFile),
          key: readFileSync(certificate.keyFile),
          allowHTTP1: true,
        },
        (asked, response) => answer(asked.url, response as never, portOf(server)),
      )
    : createServer((asked: IncomingMessage, response: ServerResponse) =>
        answer(asked.url, response, portOf(server)),
      );
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const browser = await launchBrowser(
    { server: `socks5://127.0.0.1:${daemon.socks.port}`, username: '', password: '' },
    ['--proxy-bypass-list=<-loopback>', '--ignore-certificate-errors'],
  );
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const page = await context.newPage();
        const url = `${scheme}://site${i}.test:${portOf(server)}/page${i}`;
        // On a busy machine some pages are given up.
        await page.goto(url, { waitUntil: 'load', timeout: 120_000 }).catch(() => {});
      }),
    );
  } finally {
    await browser.close();
    server.close();
    await daemon.api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses: [] });
  }
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as { port: number }).port;
}

/** Chunks of 1 MiB from four hosts, each of which keeps eight connections, as programs of game shops get them. */
async function download(account: Login): Promise<void> {
  const chunk = Buffer.alloc(1024 * 1024, 1);
  const target = await startTarget(
    scope,
    (socket) => socket.on('data', () => socket.write(chunk)),
    '0.0.0.0',
  );
  const connection = async (_: unknown, n: number): Promise<void> => {
    const client = await connectThrough(account, hostOf(n % 4), target.port);
    for (let i = 0; i < 2_000 / 32; i += 1) {
      client.send('x');
      await client.read(chunk.length);
    }
    client.destroy();
  };
  await Promise.all(Array.from({ length: 32 }, connection));
}

/** Each server gets A2S_INFO, and A2S_PLAYER with a challenge; 50 questions wait at a time, so that no buffer of the system is full. */
async function serverList(account: Login): Promise<number> {
  const server = await startUdpEcho(scope, '0.0.0.0');
  const client = await associateThrough(scope, account);
  for (const question of ['\xff\xff\xff\xffTSource Engine Query\0', '\xff\xff\xff\xffU\x01\x02\x03\x04']) {
    for (let sent = 0, received = 0; received < 500; received += 1) {
      for (; sent < Math.min(500, received + 50); sent += 1)
        client.send(hostOf(sent), server.port, Buffer.from(question, 'latin1'));
      await client.receive();
    }
  }
  client.control.destroy();
  return 500;
}

/** How many destinations Chromium's ICE agent tries, and how fast; Chromium sends UDP by no proxy, so they are replayed by one. */
async function ice(account: SocksLogin): Promise<number> {
  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  if (address === undefined)
    throw new Error('Chromium has no candidate: this machine has only loopback addresses');
  const ends: UdpEnd[] = [];
  const checks: { readonly at: number; readonly n: number }[] = [];
  for (let n = 0; n < 100; n += 1) {
    const end = await UdpEnd.open(scope, '0.0.0.0');
    end.socket.on('message', () => checks.push({ at: performance.now(), n }));
    ends.push(end);
  }
  const browser = await launchBrowser(undefined, ['--disable-features=WebRtcHideLocalIpsWithMdns']);
  const page = await browser.newPage();
  await page.evaluate(`(async () => {
    const [one, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
    one.createDataChannel('game');
    await one.setLocalDescription(await one.createOffer());
    await other.setRemoteDescription(one.localDescription);
    await one.setRemoteDescription(await other.createAnswer());
    for (const [i, port] of ${JSON.stringify(ends.map((end) => end.port))}.entries()) {
      const candidate = 'candidate:' + i + ' 1 udp ' + (2000000000 - i) + ' ${address} ' + port + ' typ host';
      await one.addIceCandidate({ candidate, sdpMid: '0' });
    }
  })()`);
  await wait(20_000);
  await browser.close();
  const first = checks.filter(({ n }, i) => checks.findIndex((each) => each.n === n) === i);
  console.error(
    `ICE: ${first.length} destinations, at most ${mostWithin(
      first.map(({ at }) => at),
      1_000,
    )} new ones in a second`,
  );
  const server = await startUdpEcho(scope, '0.0.0.0');
  const client = await associateThrough(scope, account);
  const startedAt = performance.now() - (first[0]?.at ?? 0);
  for (const { at, n } of first) {
    await wait(Math.max(0, startedAt + at - performance.now()));
    client.send(hostOf(n), server.port, 'binding request');
    await client.receive();
  }
  client.control.destroy();
  return first.length;
}
