// Countries and networks of destinations that are denied, and of clients that may log in: both engines, and files that change.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { keptDataDir, PROJECT, startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { IPV6, needs } from '../helpers/programs.js';
import { greeting, loggedInClient, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../helpers/udp-client.js';

const GIVEN = join(PROJECT, 'test/helpers/geo');
/** RFC 1928 §6. */
const [SUCCEEDED, NOT_ALLOWED] = [0, 2];
/** Their countries are yy and xx, and 127.0.0.3 is in the network 64500. */
const [FREE, DENIED, IN_NETWORK] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

for (const engine of ['native', 'node'] as const)
  describe(`countries and networks (${engine})`, async () => {
    const scope = suiteScope();
    const folder = mkdtempSync(join(tmpdir(), 'pulsegate-geo-'));
    const file = join(folder, 'country.mmdb');
    copyFileSync(join(GIVEN, 'country.mmdb'), file);
    const daemon = await startTestDaemon(scope, {
      config: {
        geo: { country: file, asn: join(GIVEN, 'asn.mmdb') },
        egress: {
          private: 'allow',
          deny: ['country:XX'],
          classes: { other: { private: 'allow', deny: ['asn:64500'] } },
        },
        socks: { engine },
      },
    });
    await daemon.addAccount('player', 'secret');
    const id = await daemon.addAccount('other', 'secret');
    const limited = await daemon.api('PATCH', `/api/v1/accounts/${id}`, { limits: { egressClass: 'other' } });
    assert.equal(limited.status, 200, limited.text);
    const account = (username: string) => ({ port: daemon.socks.port, username, password: 'secret' });

    async function replyTo(host: string, port: number, username = 'player'): Promise<number> {
      const client = await loggedInClient(account(username));
      client.send(request(host, port));
      const { code } = await readReply(client);
      client.destroy();
      return code;
    }

    it('are denied by TCP, for the accounts whose rules name them', async (t) => {
      for (const [host, ofPlayer, ofOther] of [
        [FREE, SUCCEEDED, SUCCEEDED],
        [DENIED, NOT_ALLOWED, SUCCEEDED],
        [IN_NETWORK, SUCCEEDED, NOT_ALLOWED],
      ] as const) {
        const { port } = await startTarget(t, echo, host);
        assert.equal(await replyTo(host, port), ofPlayer, host);
        assert.equal(await replyTo(`::ffff:7f00:${host.slice(-1)}`, port), ofPlayer, `${host}, mapped`);
        assert.equal(await replyTo(host, port, 'other'), ofOther, host);
      }
    });

    it('are denied by UDP', async (t) => {
      const [denied, free] = [await startUdpEcho(t, DENIED), await startUdpEcho(t, FREE)];
      const client = await associateThrough(t, account('player'));
      client.send(DENIED, denied.port, 'denied');
      assert.equal(await client.roundTrip(FREE, free.port, 'free'), 'free');
      const other = await associateThrough(t, account('other'));
      assert.equal(await other.roundTrip(DENIED, denied.port, 'other'), 'other');
    });

    it('allow the clients of an account, and stand beside their addresses', async (t) => {
      const bound = await daemon.addAccount('bound', 'secret');
      const url = `/api/v1/accounts/${bound}`;
      const change = { allowedClients: ['country:XX', 'asn:64500'], limits: { egressClass: 'other' } };
      const { json } = await daemon.api('PATCH', url, change);
      assert.deepEqual((json as { allowedClients: string[] }).allowedClients, ['country:xx', 'asn:64500']);
      const target = await startTarget(t, echo, FREE);
      const from = async (address: string) => {
        const client = await RawClient.connect(daemon.socks.port, '127.0.0.1', address);
        client.send(Buffer.concat([greeting(2), login('bound', 'secret')]));
        return [client, (await client.read(4)).readUInt8(3) === 0] as const;
      };
      const [refused, mayLogIn] = await from(FREE);
      assert.equal(mayLogIn, false);
      refused.destroy();
      const [live, mayToo] = await from(DENIED);
      const [byNetwork, mayByNetwork] = await from(IN_NETWORK);
      assert.deepEqual([mayToo, mayByNetwork], [true, true]);
      byNetwork.destroy();
      live.send(request(FREE, target.port));
      assert.equal((await readReply(live)).code, SUCCEEDED);

      const originsOf = async (path: string): Promise<unknown[]> =>
        (
          (await daemon.api('GET', `/api/v1/${path}`)).json as { items: { clientOrigin: unknown }[] }
        ).items.map(({ clientOrigin }) => clientOrigin);
      const xx = { country: 'xx', asn: null, network: null };
      const ofNetwork = { country: null, asn: 64_500, network: 'Test Network' };
      assert.deepEqual(await originsOf('sessions?search=bound'), [xx]);
      await eventually(async () =>
        assert.deepEqual(await originsOf(`logins?accountId=${bound}`), [
          ofNetwork,
          xx,
          { country: 'yy', asn: null, network: null },
        ]),
      );
      await eventually(async () => assert.deepEqual(await originsOf(`heartbeats?accountId=${bound}`), [xx]));
      const at = new Date().toISOString();
      assert.deepEqual(await originsOf(`trace?destination=${FREE}&port=${target.port}&at=${at}`), [xx]);
      const args = ['--config', daemon.configFile];
      const listed = await runCommand(daemon.dataDir, ['session', 'list', '--search', 'bound', ...args]);
      assert.match(listed.stdout, /CLIENT +ORIGIN[\s\S]*127\.0\.0\.2 +XX /);

      await daemon.api('PATCH', url, { allowedClients: ['asn:64500'] });
      await live.readToEnd();
    });

    it('follow a changed file, and keep what was read before when it is broken', async (t) => {
      const { port } = await startTarget(t, echo, DENIED);
      const free = await startTarget(t, echo, FREE);
      const swapped = readFileSync(file, 'latin1').replace(/XX|YY/g, (name) => (name === 'XX' ? 'YY' : 'XX'));
      writeFileSync(`${file}.new`, swapped, 'latin1');
      renameSync(`${file}.new`, file);
      await daemon.waitForLine(({ msg }) => msg === 'countries and networks reloaded');
      assert.equal(await replyTo(DENIED, port), SUCCEEDED);
      assert.equal(await replyTo(FREE, free.port), NOT_ALLOWED);
      writeFileSync(file, 'broken');
      daemon.signal('SIGHUP');
      const line = await daemon.waitForLine(({ msg }) => /not reloaded; keeping those read before/.test(msg));
      assert.match(String(line['reasons']), /country\.mmdb is not in the MaxMind DB format/);
      assert.equal(await replyTo(FREE, free.port), NOT_ALLOWED);
    });
  });

test(
  'where no file is configured any more, a bound account is refused, with warnings, and can be changed',
  needs(IPV6),
  async (t) => {
    const dataDir = await keptDataDir(t);
    const before = await startTestDaemon(t, {
      dataDir,
      config: { geo: { country: join(GIVEN, 'country-ipv4.mmdb') }, socks: { host: ['127.0.0.1', '::1'] } },
    });
    const warning = await before.waitForLine(({ msg }) => /has no IPv6/.test(msg));
    assert.match(String(warning['reason']), /country-ipv4\.mmdb has IPv4 only/);
    const id = await before.addAccount('bound', 'secret');
    const url = `/api/v1/accounts/${id}`;
    assert.equal((await before.api('PATCH', url, { allowedClients: ['country:yy'] })).status, 200);
    const noFile = await before.api('PATCH', url, { allowedClients: ['asn:64500'] });
    assert.match(noFile.text, /asn:64500 needs a file in the MaxMind DB format, which geo\.asn/);
    const checked = await runCommand(dataDir, ['config', 'check', '--config', before.configFile]);
    assert.match(checked.stderr, /warning: geo\.country: the file .*country-ipv4\.mmdb has IPv4 only/);
    before.signal('SIGTERM');
    await before.exited();

    const daemon = await startTestDaemon(t, { dataDir });
    const lost = await daemon.waitForLine(({ msg }) => /allow nobody/.test(msg));
    assert.deepEqual([lost['accounts'], lost['users']], [1, ['bound']]);
    const examined = await runCommand(dataDir, ['doctor', '--config', daemon.configFile]);
    assert.match(examined.stdout, /countries.*1 of 1 accounts: .*allow nobody/);
    const client = await RawClient.connect(daemon.socks.port);
    client.send(Buffer.concat([greeting(2), login('bound', 'secret')]));
    assert.notEqual((await client.read(4)).readUInt8(3), 0);
    const line = await daemon.waitForLine(({ msg }) => msg === 'login refused');
    assert.equal(line['reason'], 'client-not-allowed');
    assert.equal((await daemon.api('PATCH', url, { remarks: 'kept' })).status, 200);
    assert.equal((await daemon.api('PATCH', url, { allowedClients: ['127.0.0.1'] })).status, 200);
  },
);
