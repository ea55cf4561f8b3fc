// Reports as data centres forward them: what is found in them, and what stays open.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../../src/core/trace/session-record.js';

const NOW = Date.UTC(2026, 10, 24);
const read = (text: string) => {
  const { ends, times } = readReport(text, NOW);
  return {
    ends: ends.map(({ address, port, role }) => `${address ?? '*'} ${port ?? '*'} ${role ?? '?'}`),
    times: times.map(({ local, offset }) => `${local} ${offset ?? '?'}`),
  };
};

const SAMPLES: Readonly<Record<string, { text: string; ends: string[]; times: string[] }>> = {
  'a port scan with columns, as Hetzner sends it': {
    text: `Direct attack from host     192.0.2.1
time                protocol src_ip src_port          dest_ip dest_port
---------------------------------------------------------------------------
Thu Nov 19 03:21:41 2026 TCP       192.0.2.1 54322 =>    198.51.100.7 25
Thu Nov 19 03:21:42 2026 TCP       192.0.2.1 54323 =>    198.51.100.8 25`,
    ends: [
      '192.0.2.1 * outgoing',
      '192.0.2.1 54322 ?',
      '198.51.100.7 25 destination',
      '192.0.2.1 54323 ?',
      '198.51.100.8 25 destination',
    ],
    times: ['2026-11-19T03:21:41 ?', '2026-11-19T03:21:42 ?'],
  },
  'a table with dotted dates and CET, as OVH sends it': {
    text: `dateTime                   srcIp:srcPort           dstIp:dstPort           protocol flags
2026.11.19 03:21:41 CET    192.0.2.1:54322         198.51.100.7:22         TCP      SYN
2026.07.19 03:21:41 CEST   192.0.2.1:54322         198.51.100.7:22         TCP      SYN`,
    ends: ['192.0.2.1 54322 ?', '198.51.100.7 22 ?'],
    times: ['2026-11-19T03:21:41 +01:00', '2026-07-19T03:21:41 +02:00'],
  },
  'an X-ARF report with a field a line, as netcraft and DigitalOcean forward them': {
    text: `Reported-From: abuse@example.net
Source: 192.0.2.1
Source-Port: 54322
Destination: 198.51.100.7
Destination-Port: 443
Port: 8443
Date: Thu, 19 Nov 2026 03:21:41 +0100`,
    ends: [
      '192.0.2.1 * outgoing',
      '* 54322 outgoing',
      '198.51.100.7 * destination',
      '* 443 destination',
      '* 8443 ?',
    ],
    times: ['2026-11-19T03:21:41 +01:00'],
  },
  'lines of fail2ban and sshd': {
    text: `2026-11-19 03:21:41,123 fail2ban.actions [812]: NOTICE [sshd] Ban 192.0.2.1
Nov 19 03:21:40 mail sshd[4711]: Failed password for root from 192.0.2.1 port 54322 ssh2
Dec 31 23:59:59 mail sshd[4711]: Connection closed by 192.0.2.1 port 54322 [preauth]`,
    ends: ['192.0.2.1 * outgoing', '192.0.2.1 54322 outgoing', '192.0.2.1 54322 ?'],
    times: ['2026-11-19T03:21:41 ?', '2026-11-19T03:21:40 ?', '2025-12-31T23:59:59 ?'],
  },
  'a firewall, an access log and IPv6': {
    text: `Nov 19 03:21:41 UTC gw kernel: SRC=192.0.2.1 DST=198.51.100.7 LEN=60 PROTO=TCP SPT=54322 DPT=25
192.0.2.1 - - [19/Nov/2026:03:21:41 -0530] "GET /wp-login.php HTTP/1.1" 404 153
connection from [2001:db8::1]:54322 to [2001:DB8:0::7]:25 at 2026-11-19T02:21:41.5Z`,
    ends: [
      '192.0.2.1 * outgoing',
      '198.51.100.7 * destination',
      '* 54322 outgoing',
      '* 25 destination',
      '192.0.2.1 * ?',
      '2001:db8::1 54322 outgoing',
      '2001:db8::7 25 destination',
    ],
    times: ['2026-11-19T03:21:41 +00:00', '2026-11-19T03:21:41 -05:30', '2026-11-19T02:21:41 +00:00'],
  },
  'a list with commas': {
    text: '"192.0.2.1","54322","198.51.100.7","25","2026-11-19T03:21:41+00:00"',
    ends: ['192.0.2.1 54322 ?', '198.51.100.7 25 ?'],
    times: ['2026-11-19T03:21:41 +00:00'],
  },
  'a table with commas, whose first line says which is whose': {
    text: `"Timestamp","Source IP","Source Port","dst_ip","dst_port","count"
"2026-11-19T03:21:41Z","192.0.2.1","54322","198.51.100.7","25","3"
2026-11-19 03:21:42 UTC,192.0.2.1,54323,198.51.100.8,25,4
Regards, the team, example.net
time;victim;attacker
1795058503;198.51.100.9;192.0.2.1`,
    ends: [
      '192.0.2.1 * outgoing',
      '* 54322 outgoing',
      '198.51.100.7 * destination',
      '* 25 destination',
      '* 54323 outgoing',
      '198.51.100.8 * destination',
      '198.51.100.9 * destination',
    ],
    times: ['2026-11-19T03:21:41 +00:00', '2026-11-19T03:21:42 +00:00', '2026-11-19T03:21:43 +00:00'],
  },
  'times in seconds and milliseconds, but not other long numbers': {
    text: `{"timestamp":1795058501,"src_ip":"192.0.2.1","ms":1795058502345}
1795058503.123456 CAb3 192.0.2.1 54322 198.51.100.7 25 tcp
ticket 1234567890, 4915112345, AS1795058504, 1795058505-3, 2026111903, 17950585061`,
    ends: ['192.0.2.1 * outgoing', '192.0.2.1 54322 ?', '198.51.100.7 25 ?'],
    times: ['2026-11-19T03:21:41 +00:00', '2026-11-19T03:21:42 +00:00', '2026-11-19T03:21:43 +00:00'],
  },
  'zones as an offset from UTC, and others that stay open': {
    text: `24.11.2026 07:00:00 (GMT+01:00), 2026-11-24 07:00:01 UTC+1, 2026-11-24 07:00:02 (UTC +0530), 2026-11-24 07:00:03 GMT-5
2026-11-24 07:00:04+01, 2026-11-24 07:00:05-08:00:00, 2026-11-24 07:00:06 UTC+15, 2026-11-24 07:00:07 CET+1
2026-11-24 07:00:08 UTC - 5 hits, Tue Nov 24 07:00:09 2026 +0100, Tue Nov 24 07:00:10 UTC 2026`,
    ends: [],
    times: [
      '2026-11-24T07:00:01 +01:00',
      '2026-11-24T07:00:02 +05:30',
      '2026-11-24T07:00:03 -05:00',
      '2026-11-24T07:00:00 +01:00',
      '2026-11-24T07:00:04 +01:00',
      '2026-11-24T07:00:05 ?',
      '2026-11-24T07:00:06 ?',
      '2026-11-24T07:00:07 ?',
      '2026-11-24T07:00:08 +00:00',
      '2026-11-24T07:00:10 +00:00',
      '2026-11-24T07:00:09 +01:00',
    ],
  },
  'sentences, and fields of XML': {
    text: `One of your IPs is attacking our web server 198.51.100.7, port 443
Source address: 192.0.2.1 (UDP source port 54322), Version 1.2, port 1.5
<IP_Address>192.0.2.9</IP_Address>
<Port>6881</Port>
attempts from 192.0.2.1 port 54323`,
    ends: [
      '198.51.100.7 443 destination',
      '192.0.2.1 * outgoing',
      '* 54322 outgoing',
      '192.0.2.9 * ?',
      '* 6881 ?',
      '192.0.2.1 54323 outgoing',
    ],
    times: [],
  },
  'dates that two countries read differently, and a zone with two meanings': {
    text: '03/04/2026 05:06:07 CST and 25/04/2026 05:06',
    ends: [],
    times: ['2026-04-03T05:06:07 ?', '2026-04-25T05:06:00 ?', '2026-03-04T05:06:07 ?'],
  },
  'sentences in the words of a country': {
    text: `am 19.11.2026 um 03:21:41 Uhr MEZ wurde von Ihrer IP 192.0.2.1, Port 54322, unser System 198.51.100.7:25 angegriffen
on November 19th, 2026 at 03:21:42 UTC, and on 19 Nov 2026 at 03:21:43
您的服务器 192.0.2.9 于 2026-11-19 03:21:44（北京时间）对外攻击，目标IP：198.51.100.9，目标端口：25，源端口: 54323
2026年11月9日 03:21:45`,
    ends: [
      '192.0.2.1 54322 ?',
      '198.51.100.7 25 ?',
      '192.0.2.9 * outgoing',
      '198.51.100.9 * destination',
      '* 25 destination',
      '* 54323 outgoing',
    ],
    times: [
      '2026-11-19T03:21:41 +01:00',
      '2026-11-19T03:21:43 ?',
      '2026-11-19T03:21:42 +00:00',
      '2026-11-19T03:21:44 +08:00',
      '2026-11-09T03:21:45 ?',
    ],
  },
  nothing: {
    text: 'Version 1.2.3.4.5, ticket #2026-11-19, 300.1.2.3, 12:30, 99/99/2026 10:00:00, mail to a@b.example:70000',
    ends: [],
    times: [],
  },
};

for (const [name, { text, ends, times }] of Object.entries(SAMPLES)) {
  test(`in ${name}`, () => assert.deepEqual(read(text), { ends, times }));
}

test('a report of hundreds of lines gives the first of each kind, and a long one is read in time that grows with it', () => {
  const lines = Array.from(
    { length: 500 },
    (_, i) => `2026-11-19 03:00:${i % 60} from 192.0.2.${i % 250}:${i + 1}`,
  );
  const { ends, times } = readReport(lines.join('\n'), NOW);
  assert.deepEqual([ends.length, times.length], [20, 20]);
  for (const hostile of [
    '1:'.repeat(30_000),
    '1.'.repeat(30_000),
    'port '.repeat(12_000),
    ' '.repeat(60_000),
    'jan 1 '.repeat(10_000),
  ])
    assert.equal(readReport(hostile, NOW).times.length, 0);
});
