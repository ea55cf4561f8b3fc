// Exits in real network namespaces: several source addresses, an IPv6 network, an interface, a mark, and ports that run out. The
// peer lives in a namespace of its own behind two links, and says which address it sees.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import { startTestDaemon } from '../helpers/daemon.js';
import { IPV6, needs } from '../helpers/programs.js';
import { connectThrough, loggedInClient, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { associateThrough } from '../helpers/udp-client.js';

const INSIDE = 'PULSEGATE_TEST_IN_NAMESPACE';
const EXITS = '/api/v1/exits';
const PEER = '10.99.0.1';
const OTHER_PEER = '10.99.0.2';
const PEER_6 = 'fd99::1';
const PORT = 7000;
const PORT_RANGE = '/proc/sys/net/ipv4/ip_local_port_range';
const INSIDE_TIMEOUT_MS = 120_000;

/** The peer: TCP and UDP answer with the address of the sender; `connect HOST PORT` makes it connect there and say hello. */
const PEER_PROGRAM = `
const net = require('node:net'), dgram = require('node:dgram');
const plain = (address) => address.replace('::ffff:', '');
net.createServer((socket) => {
  socket.on('error', () => {}).on('data', (data) => {
    const [word, host, port] = data.toString().trim().split(' ');
    if (word === 'connect') net.connect({ host, port: Number(port), localAddress: '${PEER}' }).on('error', () => {}).end('hello');
    else socket.end('HTTP/1.0 200 OK\\r\\n\\r\\n' + plain(socket.remoteAddress));
  });
}).listen(${PORT}, '::');
const udp = dgram.createSocket('udp6');
udp.on('message', (_, from) => udp.send(plain(from.address), from.port, from.address));
udp.bind(${PORT}, '::', () => console.log('ready'));
`;

/** Two links to the peer: `out0` is the usual way, `out1` that of packets with the mark 7 and of sockets bound to it. */
const NETWORK = `
set -e
program=$1 file=$2 fifo=$(mktemp -u)
mkfifo "$fifo"
unshare -n "$program" -e "$PEER_PROGRAM" > "$fifo" &
peer=$!
trap 'kill $peer; rm "$fifo"' EXIT
read -r ready < "$fifo"
inside() { nsenter -t "$peer" -n ip "$@"; }
ip link set lo up
inside link set lo up
for n in 0 1; do
  ip link add "out$n" type veth peer name "in$n" netns "$peer"
  ip link set "out$n" up
  inside link set "in$n" up
  ip addr add "10.77.$n.2/24" dev "out$n"
  ip addr add "fd77:$n::2/64" dev "out$n" nodad
  inside addr add "10.77.$n.1/24" dev "in$n"
  inside addr add "fd77:$n::1/64" dev "in$n" nodad
done
ip addr add 10.77.0.3/24 dev out0
ip addr add 10.77.0.4/24 dev out0
inside addr add ${PEER}/32 dev lo
inside addr add ${OTHER_PEER}/32 dev lo
inside addr add ${PEER_6}/128 dev lo nodad
ip route add default via 10.77.0.1
ip route add default via 10.77.1.1 metric 100
ip -6 route add default via fd77:0::1
ip route add default via 10.77.1.1 table 7
ip rule add fwmark 7 table 7
# The recipe of etc/README.md for an IPv6 network of which each account gets an address.
ip -6 route add local fd77:aa::/64 dev lo
inside -6 route add fd77:aa::/64 via fd77:0::2
"$program" --test-reporter=spec "$file"
`;

if (process.env[INSIDE]) {
  for (const engine of ['native', 'node'] as const)
    describe(`exits with the ${engine} engine in namespaces`, () => tryEngine(engine));

  test('a mark that the daemon may not set is refused, and the reason names the capability', async (t) => {
    const wrap = ['setpriv', '--bounding-set=-net_admin,-net_raw', '--inh-caps=-net_admin,-net_raw'];
    const daemon = await startTestDaemon(t, { config: { socks: { engine: 'native' } }, wrap });
    const { status, json } = await daemon.api('POST', EXITS, { name: 'marked', mark: 7 });
    assert.equal(status, 409);
    assert.equal((json as { reason: { code: string } }).reason.code, 'exit-needs-net-admin');
    assert.match((json as { detail: string }).detail, /CAP_NET_ADMIN/);
  });
} else {
  test('exits leave this machine as they say', { skip: skipReason() }, (t) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const output = execFileSync(
      'unshare',
      ['-n', 'sh', '-c', NETWORK, 'sh', process.execPath, import.meta.filename],
      { env: { ...env, [INSIDE]: '1', PEER_PROGRAM }, encoding: 'utf8', timeout: INSIDE_TIMEOUT_MS },
    );
    t.diagnostic(output.replaceAll('\n', ' '));
    assert.match(output, /^ℹ pass 10$/m);
    assert.match(output, /^ℹ skipped 0$/m);
  });
}

async function tryEngine(engine: 'native' | 'node'): Promise<void> {
  const scope = suiteScope();
  const daemon = await startTestDaemon(scope, {
    config: {
      socks: { engine, bind: { enabled: true }, udp: { enabled: true } },
      // A check opens a socket at each address, which takes one of the few ports of a test here.
      egress: { exitChecks: { interval: '0s' } },
    },
  });
  const api = async (method: string, path: string, body?: object, status = 200) => {
    const answer = await daemon.api(method, path, body);
    assert.equal(answer.status, status, answer.text);
    return answer.json as Record<string, unknown>;
  };
  const accountOf = async (exit: string, username: string) => {
    const id = await daemon.addAccount(username, 'secret');
    await api('PATCH', `/api/v1/accounts/${id}`, { exit });
    return { port: daemon.socks.port, username, password: 'secret' };
  };
  type Account = Awaited<ReturnType<typeof accountOf>>;

  const tcp = async (account: Account, peer = PEER) => {
    const client = await connectThrough(account, peer, PORT);
    client.send('GET\n');
    const answer = (await client.readToEnd()).toString();
    client.destroy();
    return answer.split('\r\n\r\n').at(-1);
  };
  const udp = async (account: Account, peer = PEER) => {
    const association = await associateThrough(scope, account);
    return association.roundTrip(peer, PORT, 'who');
  };
  const bind = async (account: Account) => {
    const client = await loggedInClient(account);
    client.send(request(PEER, PORT, 2));
    const { code, address, port } = await readReply(client);
    assert.equal(code, 0);
    const caller = await RawClient.connect(PORT, PEER);
    caller.send(`connect ${address} ${port}\n`);
    assert.equal((await readReply(client)).code, 0);
    assert.equal((await client.read(5)).toString(), 'hello');
    client.destroy();
    caller.destroy();
    return address;
  };
  const http = async ({ port, username, password }: Account) => {
    const client = await RawClient.connect(port);
    const credentials = Buffer.from(`${username}:${password}`).toString('base64');
    client.send(
      `GET http://${PEER}:${PORT}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`,
    );
    return (await client.readToEnd()).toString().split('\r\n\r\n').at(-1);
  };

  it('the peer sees the source address over CONNECT, UDP, BIND and HTTP', async () => {
    await api('POST', EXITS, { name: 'one', addresses: ['10.77.0.3'] }, 201);
    const account = await accountOf('one', 'one');
    const seen = [await tcp(account), await udp(account), await bind(account), await http(account)];
    assert.deepEqual(new Set(seen), new Set(['10.77.0.3']));
  });

  it('several addresses in turn; both families, IPv4 where the exit says so', async () => {
    const addresses = ['10.77.0.2', '10.77.0.3', '10.77.0.4', 'fd77:0::2'];
    await api('POST', EXITS, { name: 'turn', addresses, choose: 'session' }, 201);
    const account = await accountOf('turn', 'turn');
    const seen = [await tcp(account), await tcp(account), await tcp(account)];
    assert.deepEqual(seen.sort(), addresses.slice(0, 3));
    assert.equal(await tcp(account, PEER_6), 'fd77::2');
    await api('PATCH', `${EXITS}/turn`, { family: 'ipv4' });
    const client = await loggedInClient(account);
    client.send(request(PEER_6, PORT));
    assert.equal((await readReply(client)).code, 3);
    client.destroy();
  });

  if (engine === 'node') {
    it('what node:net cannot do is refused when the exit is saved', async () => {
      for (const field of [{ interface: 'out1' }, { mark: 7 }, { addresses: ['fd77:aa::/64'] }]) {
        const answer = await api('POST', EXITS, { name: 'special', ...field }, 409);
        assert.equal((answer['reason'] as { code: string }).code, 'exit-needs-native');
      }
    });
    return;
  }

  it('an IPv6 network: an address for each account, always the same or new for each session', async () => {
    await api('POST', EXITS, { name: 'network', addresses: ['fd77:aa::/64'] }, 201);
    const [one, two] = [await accountOf('network', 'net1'), await accountOf('network', 'net2')];
    const first = await tcp(one, PEER_6);
    assert.match(first ?? '', /^fd77:aa:/);
    assert.deepEqual([await tcp(one, PEER_6), await udp(one, PEER_6)], [first, first]);
    assert.notEqual(await tcp(two, PEER_6), first);
    await api('PATCH', `${EXITS}/network`, { choose: 'session' });
    assert.notEqual(await tcp(one, PEER_6), await tcp(one, PEER_6));
  });

  it('an interface: sockets are bound to it, over CONNECT, UDP, BIND and HTTP', async () => {
    await api('POST', EXITS, { name: 'device', interface: 'out1' }, 201);
    const account = await accountOf('device', 'device');
    const seen = [await tcp(account), await udp(account), await bind(account), await http(account)];
    assert.deepEqual(new Set(seen), new Set(['10.77.1.2']));
  });

  it('a mark: the route by policy is taken, over CONNECT, UDP, BIND and HTTP', async () => {
    await api('POST', EXITS, { name: 'marked', mark: 7 }, 201);
    const account = await accountOf('marked', 'marked');
    const seen = [await tcp(account), await udp(account), await bind(account), await http(account)];
    assert.deepEqual(new Set(seen), new Set(['10.77.1.2']));
  });

  it('an exit without a free port refuses at once; another destination still has all ports', async (t) => {
    await api('POST', EXITS, { name: 'few', addresses: ['10.77.0.4'] }, 201);
    const account = await accountOf('few', 'few');
    const ports = 10;
    const clients = await Promise.all(Array.from({ length: ports + 2 }, () => loggedInClient(account)));
    const last = clients.pop();
    const usual = readFileSync(PORT_RANGE, 'utf8');
    t.after(() => writeFileSync(PORT_RANGE, usual));
    // None of the usual range: a listener may have one of those.
    writeFileSync(PORT_RANGE, `20000 ${20_000 + ports - 1}`);
    const codes: number[] = [];
    for (const client of clients) {
      client.send(request(PEER, PORT));
      codes.push((await readReply(client)).code);
    }
    assert.deepEqual(codes, [...Array(ports).fill(0), 3]);
    const line = await daemon.waitForLine(
      (each) => each.msg === 'destination refused' && each['exit'] === 'few',
    );
    assert.equal(line['reason'], 'EADDRNOTAVAIL');
    last?.send(request(OTHER_PEER, PORT));
    assert.equal(last && (await readReply(last)).code, 0);
    for (const client of [...clients, last]) client?.destroy();
  });
}

function skipReason(): string | false {
  const { skip } = needs('unshare', 'nsenter', 'setpriv', 'ip', 'mkfifo', IPV6);
  if (skip) return skip;
  try {
    execFileSync('unshare', ['-n', 'ip', 'link', 'add', 'out0', 'type', 'veth'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'this user may not make a network namespace with links';
  }
}
