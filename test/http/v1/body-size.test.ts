// The size limit of requests: requests about many accounts have a separate limit, exact to the byte.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { codeOf, fetchFrom } from '../../helpers/console.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import { suiteScope } from '../../helpers/suite.js';

const MAX_BODY = 1_024;
const MAX_BULK = 2_048;
const headers = {
  authorization: basic(ADMIN.username, ADMIN.password),
  'content-type': 'application/json',
};

/** Returns the JSON text with white space up to exactly this number of bytes. */
function padded(body: object, bytes: number): string {
  const text = JSON.stringify(body);
  return `{${' '.repeat(bytes - Buffer.byteLength(text))}${text.slice(1)}`;
}

describe('the body of a request to /api/v1', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    const admin = { maxBody: '1KiB', maxBulkBody: '2KiB' };
    const agents = { echo: { type: 'command', command: ['cat'] } };
    daemon = await startTestDaemon(scope, {
      config: { admin, webhooks: { enabled: true, secret: 's'.repeat(32) }, agents },
    });
  });

  const dry = { dryRun: true };
  const routes = [
    ['many new accounts', 'POST', '/api/v1/accounts/batch', { pattern: 'p{1-3}', ...dry }, MAX_BULK],
    [
      'a bulk change',
      'POST',
      '/api/v1/accounts/bulk',
      { filter: {}, action: { type: 'enable' }, ...dry },
      MAX_BULK,
    ],
    ['game rules', 'PUT', '/api/v1/settings/games', { rules: [] }, MAX_BULK],
    ['a message to an agent', 'POST', '/api/v1/agents/echo/messages', { message: 'm' }, MAX_BULK],
    ['a token', 'POST', '/api/v1/tokens', { name: 't', scopes: ['accounts:read'] }, MAX_BODY],
  ] as const;
  for (const [subject, method, path, body, max] of routes) {
    for (const [bytes, isAccepted] of [
      [max - 1, true],
      [max, true],
      [max + 1, false],
    ] as const) {
      it(`for ${subject} may have ${max} bytes: ${bytes} bytes are ${isAccepted ? 'accepted' : 'refused'}`, async () => {
        const text = padded(body, bytes);
        assert.equal(Buffer.byteLength(text), bytes);
        const answer = await fetchFrom(daemon, method, path, headers, text);
        if (isAccepted) assert.ok([200, 201, 202].includes(answer.status), answer.text);
        else assert.deepEqual([answer.status, codeOf(answer)], [413, 'too-large']);
      });
    }
  }

  it('is counted in bytes, not in characters', async () => {
    const body = (letters: number) => ({ list: [{ username: 'x', remarks: '口'.repeat(letters) }], ...dry });
    const room = MAX_BULK - Buffer.byteLength(JSON.stringify(body(0)));
    const ask = (letters: number) =>
      fetchFrom(daemon, 'POST', '/api/v1/accounts/batch', headers, JSON.stringify(body(letters)));
    assert.equal((await ask(Math.floor(room / 3))).status, 200);
    assert.equal((await ask(Math.floor(room / 3) + 1)).status, 413);
  });
});
