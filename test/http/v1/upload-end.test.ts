// Clients that disconnect before or during an upload cause no unhandled error; one upload per caller.
import assert from 'node:assert/strict';
import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ADMIN, startTestAdmin } from '../../helpers/admin.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';

/** Keeps every thread that opens files busy; resolves once they are free again. */
function occupyFileThreads(): Promise<unknown> {
  const work = Array.from(
    { length: 8 },
    () => new Promise((resolve) => pbkdf2('', '', 120_000, 32, 'sha256', resolve)),
  );
  return Promise.all(work);
}

for (const isAccepted of [true, false]) {
  test(`the API continues when a client disconnects before its upload is ${isAccepted ? 'accepted' : 'refused'}`, async (t) => {
    const admin = await startTestAdmin(t);
    if (!isAccepted) await rm(admin.dataDir, { recursive: true });
    const { hostname, port } = new URL(admin.url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /api/v1/accounts/import HTTP/1.1',
      'Host: localhost',
      `Authorization: ${basic(ADMIN.username, ADMIN.password)}`,
      'Content-Type: text/csv',
      'Content-Length: 1000000',
      // The response 100 shows that the request is in progress.
      'Expect: 100-continue',
    ];
    const freed = occupyFileThreads();
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 100 /);
    socket.resetAndDestroy();
    await freed;
    // An unhandled error would have ended this process.
    assert.equal((await admin.api('GET', '/api/v1/accounts')).status, 200);
  });
}

test('a caller can run one import at a time', async (t) => {
  const admin = await startTestAdmin(t);
  const { hostname, port } = new URL(admin.url);
  const head = [
    'POST /api/v1/accounts/import HTTP/1.1',
    'Host: localhost',
    `Authorization: ${basic(ADMIN.username, ADMIN.password)}`,
    'Content-Type: text/csv',
    'Connection: close',
  ];
  const upload = async (more: readonly string[], body = '') => {
    const socket = connect(Number(port), hostname);
    t.after(() => socket.destroy());
    socket.write(`${[...head, ...more].join('\r\n')}\r\n\r\n${body}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return { socket, answer: answer.toString() };
  };
  const short = () => upload(['Content-Length: 13'], 'username\nanna\n'.slice(0, 13));
  const first = await upload(['Content-Length: 1000000', 'Expect: 100-continue']);
  assert.match(first.answer, /^HTTP\/1\.1 100 /);
  const refused = await short();
  assert.match(refused.answer, /^HTTP\/1\.1 429 .*another import of yours is in progress/s);
  first.socket.destroy();
  await eventually(async () => assert.match((await short()).answer, /^HTTP\/1\.1 200 /));
});
