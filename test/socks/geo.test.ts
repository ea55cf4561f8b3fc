// Destinations that are denied by country and network: TCP, UDP, both engines, and files that change.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PROJECT, startTestDaemon } from '../helpers/daemon.js';
import { loggedInClient, readReply, request } from '../helpers/socks-client.js';
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
