// Every case of the table, against a listening server over a real store.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ADMIN, startTestAdmin } from '../helpers/admin.js';
import { basic, send } from '../helpers/http.js';
import { API_CASES, type ApiCase } from './account-api-cases.js';

test(`the account API answers ${API_CASES.length} requests as its table says`, {
  concurrency: 32,
}, async (t) => {
  const admin = await startTestAdmin(t, {
    attempts: {
      maxFailuresPerSource: 1_000,
      failureWindowMs: 1_000,
      maxSources: 10,
      maxCodeFailures: 10,
      codeFailureWindowMs: 60_000,
    },
    maxDelayedPerSource: 1_000,
  });
  const id = await admin.addAccount('existing');
  await Promise.all(API_CASES.map((each) => t.test(each.name, () => check(admin.url, id, each))));
});

async function check(url: string, id: string, each: ApiCase): Promise<void> {
  const fill = (text: string) => text.replaceAll('{id}', id).replaceAll('{name}', randomUUID());
  const { body } = each.request;
  const answer = await send(url + fill(each.path), {
    method: each.request.method,
    headers: {
      ...(each.isAnonymous ? {} : { authorization: basic(ADMIN.username, ADMIN.password) }),
      ...each.request.headers,
    },
    body: typeof body === 'string' ? fill(body) : body,
  });

  assert.equal(answer.status, each.status, answer.text);
  if (each.body !== undefined) assert.deepEqual(answer.json, each.body);
  const detail = String(answer.headers['x-error-detail'] ?? '');
  if (each.detail) assert.match(detail, each.detail);
  assert.match(detail, /^[\x20-\x7e]*$/);
  assert.doesNotMatch(detail, /secret|x{61}/, 'a detail quotes no secrets and nothing at length');
  if (each.allow) assert.equal(answer.headers.allow, each.allow);
  if (each.status !== 204) assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  if (each.status === 401) {
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="Pulsegate", charset="UTF-8"');
  }
  const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
  assert.deepEqual(cors, []);
}
