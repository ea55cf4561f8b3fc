// Forbidden destinations in every spelling, through the running proxy: no connection to them is attempted.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { startNameServer } from '../helpers/name-server.js';
import { has, IPV6, needsFor } from '../helpers/programs.js';
import { connectThrough, loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const NOT_ALLOWED = 2; // RFC 1928 §6: connection not allowed by ruleset

/** Names with the addresses that the test's DNS server returns: all are of this machine or never allowed. */
const ZONE: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'loopback-far.test': ['127.255.255.254'],
  'loopback6.test': ['::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'compatible.test': ['::7f00:1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::'],
  'teredo.test': ['2001:0:7f00:1::'],
  'zero.test': ['0.0.0.0'],
  'zero6.test': ['::'],
  'private10.test': ['10.0.0.1'],
  'private172.test': ['172.16.0.1'],
  'private192.test': ['192.168.0.1'],
  'shared.test': ['100.64.0.1'],
  'unique-local.test': ['fd00::1'],
  'link-local.test': ['169.254.1.1'],
  'link-local6.test': ['fe80::1'],
  'metadata.test': ['169.254.169.254'],
  'metadata6.test': ['fd00:ec2::254'],
  'metadata-other.test': ['100.100.100.200'],
  'both.test': ['127.0.0.1', '::1'],
  'two-private.test': ['10.0.0.1', '192.168.1.1'],
  'multicast.test': ['224.0.0.1'],
  'broadcast.test': ['255.255.255.255'],
};

const ADDRESSES = [
  '127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.255', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255',
  '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255', '100.64.0.1', '100.127.255.255',
  '169.254.0.1', '169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16',
  '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.0.1',
  '::', '::1', '::2', '::ffff:7f00:1', '::ffff:a00:1', '::ffff:c0a8:1', '::ffff:a9fe:a9fe', '::ffff:0:0', '::7f00:1', '::a00:1',
  '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:a00:1::1', '2002:c0a8:1::',
  '2001:0:7f00:1::', '2001:0:808:808:0:0:80ff:fffe', 'fc00::1', 'fd00::1', 'fdff:ffff::1', 'fd00:ec2::254', 'fe80::1', 'febf::1',
  'fec0::1', 'ff02::1', 'ff0e::1',
]; // biome-ignore format: a table

const SPELLINGS = [
  '2130706433', '017700000001', '0x7f000001', '0x7F.0x0.0x0.0x1', '0177.0.0.1', '0177.0.0.01', '127.1', '127.0.1', '127.0.0.1.',
  '127.000.000.001', '127.0.0.0x1', '00.0.0.0', '0', '0x0', '1', '0x7f.1', '127.0.0.1.1', '[::1]', '::1', '::ffff:127.0.0.1', '[::ffff:127.0.0.1]',
  '::ffff:7f00:0001', '0:0:0:0:0:0:0:1', '::1.', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '4294967295', '3232235521',
  '0xa000001', '012.0.0.1', '167772161', '192.168.1', '10.1', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376',
  'http://127.0.0.1', '127.0.0.1:80', '127.0.0.1/', ' 127.0.0.1', '127.0.0.1 ', '127.0.0.1\0', '127.0.0.1\0.example.com', 'example.com\0', '\0',
  '１２７.0.0.1', '127。0。0。1', 'ⓛocalhost', 'loc%61lhost', '@127.0.0.1', 'a@127.0.0.1', '127.0.0.1#', '127.0.0.1%00', 'fe80::1%lo', '::1%lo',
]; // biome-ignore format: a table

describe('denied destinations', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;
  const account = { port: 0, username: 'player', password: 'secret' };

  before(async () => {
    const names = await startNameServer(scope, (name, family, query) => {
      // 192.0.2.1 is public to the rules and unreachable here. Every second answer is loopback.
      if (name.startsWith('rebind-'))
        return family === 6 ? [] : [query % 2 === 1 ? '192.0.2.1' : '127.0.0.1'];
      return ZONE[name]?.filter((address) => address.includes(':') === (family === 6));
    });
    daemon = await startTestDaemon(scope, {
      config: {
        egress: {
          private: 'deny',
          classes: { open: { private: 'allow', allow: ['127.0.0.0/8', 'localhost'] } },
        },
        dns: { servers: [names.address] },
        socks: { connectTimeout: '200ms' },
        admin: { host: has(IPV6) ? 'localhost' : '127.0.0.1' },
      },
    });
    await daemon.addAccount('player', 'secret');
    account.port = daemon.socks.port;
    target = await startTarget(scope, echo);
  });

  const cases = [
    ...ADDRESSES.map((address) => ({ kind: `address ${address}`, host: address as string | Buffer })),
    ...ADDRESSES.map((address) => ({ kind: `${address} as a name`, host: Buffer.from(address) })),
    ...Object.keys(ZONE).map((name) => ({ kind: `name ${name}`, host: name as string | Buffer })),
    ...SPELLINGS.map((text) => ({ kind: `spelling ${JSON.stringify(text)}`, host: Buffer.from(text) })),
  ];

  for (const listenOn of ['127.0.0.1', '::1']) {
    it(
      `are refused with 02 in ${cases.length} spellings, on a port of ${listenOn}`,
      needsFor(listenOn),
      async (t) => {
        assert.ok(cases.length >= 100);
        const { port, accepted } = await startTarget(t, echo, listenOn);
        for (const { kind, host } of cases) {
          const client = await loggedInClient(account);
          client.send(request(host, port));
          const { code } = await readReply(client);
          assert.equal(code, NOT_ALLOWED, kind);
          await client.closed();
        }
        assert.equal(accepted(), 0);
      },
    );
  }

  it('include a name that changes its address, because each connection checks the address that it uses', async () => {
    for (let i = 0; i < 12; i += 1) {
      const client = await loggedInClient(account);
      client.send(request(`rebind-${i >> 1}.test`, target.port));
      assert.notEqual((await readReply(client)).code, 0);
    }
    assert.equal(target.accepted(), 0);
  });

  it("include the daemon's own listeners, even when private addresses are allowed", async (t) => {
    const id = await daemon.addAccount('open', 'secret');
    const limits = { egressClass: 'open' };
    assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, limits)).status, 200);
    const open = { ...account, username: 'open' };
    const { port: allowed } = await startTarget(t, echo);
    (await connectThrough(open, '127.0.0.1', allowed)).destroy();
    const adminPort = Number(new URL(daemon.adminUrl).port);
    for (const host of [
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '::1',
      '::',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      'localhost',
      Buffer.from('::1'),
    ]) {
      for (const port of [adminPort, open.port]) {
        const client = await loggedInClient(open);
        client.send(request(host, port));
        assert.equal((await readReply(client)).code, NOT_ALLOWED, `${host}:${port}`);
      }
    }
  });
});

describe('egress rules for names', async () => {
  const scope = suiteScope();
  const names = await startNameServer(scope, (name, family) =>
    name !== 'mixed.test' ? undefined : family === 4 ? ['10.0.0.1', '127.0.0.5', '127.0.0.1'] : ['fd00::1'],
  );
  const daemon = await startTestDaemon(scope, {
    config: {
      egress: { private: 'deny', allow: ['127.0.0.1'], deny: ['*.blocked.test', 'port.test:25'] },
      dns: { servers: [names.address] },
    },
  });
  await daemon.addAccount('player', 'secret');
  const account = { port: daemon.socks.port, username: 'player', password: 'secret' };

  it('connect a name with several addresses only to the permitted ones', async (t) => {
    const target = await startTarget(t, echo);
    const client = await connectThrough(account, 'mixed.test', target.port);
    client.send('ping');
    assert.equal((await client.read(4)).toString(), 'ping');
    client.destroy();
    const line = await daemon.waitForLine((each) => each.msg === 'session ended');
    assert.equal(line['address'], '127.0.0.1');
  });

  it('refuse a denied name without a DNS query', async () => {
    const replyTo = async (name: string, port: number): Promise<number> => {
      const client = await loggedInClient(account);
      client.send(request(name, port));
      return (await readReply(client)).code;
    };
    const queries = () => names.questions.filter((question) => /blocked|port/.test(question));
    assert.equal(await replyTo('a.blocked.test', 80), NOT_ALLOWED);
    assert.equal(await replyTo('port.test', 25), NOT_ALLOWED);
    assert.deepEqual(queries(), []);
    const HOST_UNREACHABLE = 4;
    assert.equal(await replyTo('port.test', 26), HOST_UNREACHABLE);
    assert.ok(queries().includes('A port.test'));
  });
});
