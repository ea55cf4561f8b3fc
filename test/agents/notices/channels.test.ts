// Notices by e-mail, Telegram and WeCom: set up through /api/v1, tested, sent once, limited in rate, and listed in the history.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, it } from 'node:test';
import { runCommand } from '../../helpers/command.js';
import { codeOf, signIn } from '../../helpers/console.js';
import { type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { startSmtpServer } from '../../helpers/smtp-server.js';
import { suiteScope } from '../../helpers/suite.js';

type Json = Record<string, unknown>;
const SETTINGS = '/api/v1/settings/notices';
const TOKEN = '4711:secret-of-the-bot';
const KEY = 'key-of-the-robot';
const PASSWORD = 'mail-password';
const TEMPLATES = Object.fromEntries(
  ['expiring', 'expired', 'quota'].map((name) => [name, { zh: null, en: null }]),
);

/** Starts a server that answers as both messengers do. */
async function startMessengers(t: { after(work: () => unknown): void }) {
  const received: { path: string; json: Json }[] = [];
  /** The next answers, in order. Afterwards the server answers with success. */
  const answers: { status: number; json: Json }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({ path: request.url ?? '', json: JSON.parse(body) as Json });
    const { status, json } = answers.shift() ?? { status: 200, json: { ok: true, errcode: 0, errmsg: 'ok' } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const to = (path: string) => received.filter((each) => each.path.startsWith(path)).map(({ json }) => json);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    telegrams: () => to(`/bot${TOKEN}/sendMessage`),
    wecoms: () => to(`/cgi-bin/webhook/send?key=${KEY}`),
  };
}

describe('channels of notices', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let messengers: Awaited<ReturnType<typeof startMessengers>>;
  let mail: Awaited<ReturnType<typeof startSmtpServer>>;
  before(async () => {
    messengers = await startMessengers(scope);
    mail = await startSmtpServer(scope, { user: 'gate', password: PASSWORD });
    daemon = await startTestDaemon(scope, {
      config: {
        notices: { lookEvery: '200ms', backoff: '10ms', maxTries: 2 },
        admin: { playerPage: { enabled: true } },
      },
      operators: [{ name: 'shop', password: 'a long password', role: 'seller' }],
    });
  });

  const bodyOfSuccess = (answer: ApiAnswer): Json => {
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return (answer.json ?? {}) as Json;
  };
  const settings = (change: Json = {}): Json => ({
    ...{ language: 'en', timeZone: 'Asia/Shanghai', expiryDays: [1, 7, 0], quotaPercent: [100, 80] },
    ...{ perMinute: 600, historyDays: 30, templates: TEMPLATES },
    email: {
      ...{ operator: true, players: true, host: '127.0.0.1', port: mail.port, security: 'none' },
      ...{ user: 'gate', from: 'gate@example.com', to: 'boss@example.com' },
    },
    telegram: { operator: true, players: true, baseUrl: messengers.url, chatId: '-1001' },
    wecom: { operator: true, baseUrl: messengers.url },
    ...change,
  });
  const secrets = () => {
    const { email, telegram, wecom } = settings() as Record<string, Json>;
    return {
      email: { ...email, password: PASSWORD },
      telegram: { ...telegram, token: TOKEN },
      wecom: { ...wecom, key: KEY },
    };
  };
  const put = (body: Json) => daemon.api('PUT', SETTINGS, body);
  const test = async (channel: string) =>
    bodyOfSuccess(await daemon.api('POST', `${SETTINGS}/test`, { channel }));
  const list = async (query = '') =>
    bodyOfSuccess(await daemon.api('GET', `/api/v1/notices?${query}`))['items'] as (Json & { id: string })[];
  const soon = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  it('are configured without showing their secrets, and report the answer to a test message', async () => {
    assert.equal(codeOf(await daemon.api('POST', `${SETTINGS}/test`, { channel: 'email' })), 'conflict');
    const saved = bodyOfSuccess(await put(settings(secrets())));
    assert.deepEqual(saved['expiryDays'], [7, 1, 0]);
    const shown = await daemon.api('GET', SETTINGS);
    for (const secret of [TOKEN, KEY, PASSWORD]) assert.ok(!shown.text.includes(secret), secret);
    assert.deepEqual(await test('email'), { delivered: true, detail: '250 2.0.0 taken as 1' });
    assert.equal((await test('telegram'))['delivered'], true);
    assert.equal((await test('wecom'))['delivered'], true);
    assert.equal(messengers.telegrams()[0]?.['chat_id'], '-1001');
    messengers.answers.push({
      status: 401,
      json: { ok: false, error_code: 401, description: 'Unauthorized' },
    });
    const refused = await test('telegram');
    assert.equal(refused['delivered'], false);
    assert.match(String(refused['detail']), /^HTTP 401: .*Unauthorized/);

    const otherHost = { ...(settings()['email'] as Json), host: 'localhost' };
    const withoutPassword = await put(settings({ email: otherHost }));
    assert.match(withoutPassword.text, /secret-again/, 'a stored password is not used for another host');
    for (const invalid of [
      { perMinute: 0 },
      { perMinute: 601 },
      { historyDays: 366 },
      { expiryDays: [366] },
      { quotaPercent: [101] },
      { timeZone: 'Mars/Olympus' },
      { templates: { ...TEMPLATES, quota: { zh: null, en: 'x {password}' } } },
      { handover: { zh: null, en: 'x {traffic}' } },
      { handover: { zh: 'x'.repeat(1_001), en: null } },
      { telegram: { ...(settings()['telegram'] as Json), baseUrl: 'file:///etc/passwd' } },
      { email: { ...(settings()['email'] as Json), to: 'boss@example.com\r\nBcc: all@example.com' } },
    ])
      assert.equal(codeOf(await put(settings(invalid))), 'validation', JSON.stringify(invalid));

    const wrongPassword = { ...(settings()['email'] as Json), password: 'wrong' };
    bodyOfSuccess(await put(settings({ email: wrongPassword })));
    assert.deepEqual(await test('email'), { delivered: false, detail: '535 5.7.8 who are you' });
    bodyOfSuccess(await put(settings(secrets())));
    const audit = (await daemon.api('GET', '/api/v1/audit?action=settings.notices')).text;
    assert.match(audit, /"email.password":"\(hidden\)"/);
    for (const secret of [TOKEN, KEY, PASSWORD]) assert.ok(!audit.includes(secret), secret);
  });

  let tokens = 0;
  /** Makes a token, which causes an alert. Returns its name. */
  const makeToken = async () => {
    const name = `shop.${++tokens}`;
    bodyOfSuccess(await daemon.api('POST', '/api/v1/tokens', { name, scopes: ['accounts:read'] }));
    return name;
  };
  const alertsOf = async (name: string, query = '') =>
    (await list(query)).filter(({ data }) => (data as Json)['name'] === name);

  it('test what is typed, before it is saved', async () => {
    const typed = { ...(settings()['email'] as Json), to: 'typed@example.com' };
    const testTyped = (email: Json) => daemon.api('POST', `${SETTINGS}/test`, { channel: 'email', email });
    assert.equal(bodyOfSuccess(await testTyped(typed))['delivered'], true, 'with the saved password');
    assert.equal(mail.received.at(-1)?.to, 'typed@example.com');
    const refused = bodyOfSuccess(await testTyped({ ...typed, password: 'typed too' }));
    assert.deepEqual(refused, { delivered: false, detail: '535 5.7.8 who are you' });
    const elsewhere = await testTyped({ ...typed, host: 'localhost' });
    assert.match(elsewhere.text, /body.email.password.*secret-again/s, 'not with the saved password');
    assert.equal(codeOf(await testTyped({ ...typed, to: null })), 'conflict');
    const saved = bodyOfSuccess(await daemon.api('GET', SETTINGS))['email'] as Json;
    assert.equal(saved['to'], 'boss@example.com');
  });

  it('send each alert to the operator once, in the language of the settings', async () => {
    // What happened before the channels were switched on is not announced.
    const name = await eventually(async () => {
      const made = await makeToken();
      await eventually(async () => assert.equal((await alertsOf(made)).length, 3), 5_000);
      return made;
    });
    await eventually(async () => {
      const delivered = await alertsOf(name, 'state=delivered');
      assert.deepEqual(delivered.map(({ channel }) => channel).sort(), ['email', 'telegram', 'wecom']);
    });
    const content = mail.received.at(-1)?.content ?? '';
    // A name with a dot could be read as an address, so no client may make a link of it.
    assert.ok(content.includes(`Subject: New API token ${name.replace('.', '[.]')}`), content);
    assert.match(content, /^To: boss@example.com$/m);
    assert.match(
      String(messengers.telegrams().at(-1)?.['text']),
      /^New API token shop\[\.]\d+: by admin \(.*\(Asia\/Shanghai\)\. If that was not you/,
    );
    assert.deepEqual(messengers.wecoms().at(-1)?.['msgtype'], 'text');
    const [notice] = await alertsOf(name, 'channel=email');
    assert.deepEqual(
      [notice?.['type'], notice?.['recipient'], notice?.['tries'], notice?.['nextTryAt']],
      ['token.create', 'operator', 1, null],
    );
  });

  it('remind a player through the contacts of the account, in its language, and no other player', async () => {
    const contacts = { email: 'carla@example.com', telegram: '4242', language: 'zh' };
    const created = bodyOfSuccess(
      await daemon.api('POST', '/api/v1/accounts', { username: 'carla', expiresAt: soon(50), contacts }),
    );
    const { id, ...account } = created['account'] as Json & { id: string };
    assert.deepEqual(account['contacts'], contacts);
    await eventually(async () => {
      const delivered = await list(`account=${id}&state=delivered`);
      const recipients = delivered.map(({ channel, recipient }) => `${recipient} ${channel}`).sort();
      assert.deepEqual(recipients, ['player email', 'player telegram'], 'the operator gets a digest');
    });
    const mails = mail.received.filter((each) => each.to === contacts.email);
    assert.equal(mails.length, 1);
    const [, subject = ''] = /^Subject: =\?utf-8\?B\?(\S+)\?=$/im.exec(mails[0]?.content ?? '') ?? [];
    assert.equal(Buffer.from(subject, 'base64').toString(), '您的账号即将到期', 'no user name');
    const [text, ...others] = messengers.telegrams().filter((each) => each['chat_id'] === '4242');
    assert.match(
      String(text?.['text']),
      /^您的账号 carla 将于 .*（Asia\/Shanghai）到期（还有 3 天），请及时续费。$/,
    );
    assert.equal(others.length, 0);

    const patch = (change: Json) => daemon.api('PATCH', `/api/v1/accounts/${id}`, { contacts: change });
    bodyOfSuccess(await patch({ email: null }));
    const patched = bodyOfSuccess(await daemon.api('GET', `/api/v1/accounts/${id}`));
    assert.deepEqual(patched['contacts'], { ...contacts, email: null });
    const long = `${'a'.repeat(251)}@b.c`;
    for (const invalid of [
      { email: 'a@b\r\nc: d' },
      { email: long },
      { telegram: 'x y' },
      { language: 'fr' },
    ])
      assert.equal(codeOf(await patch(invalid)), 'validation', JSON.stringify(invalid));
    const audit = await daemon.api('GET', `/api/v1/audit?objectId=${id}`);
    for (const contact of ['carla@', '4242'])
      assert.ok(!(JSON.stringify(daemon.lines) + audit.text).includes(contact), 'no contact in logs');
    const csv = (await daemon.api('GET', '/api/v1/accounts/export?format=csv&search=carla')).text;
    assert.match(csv, /4242.*zh/);
    const update = ['account', 'update', 'carla', '--email', 'c@example.com', '--telegram=', '--json'];
    const cli = await runCommand(daemon.dataDir, [...update, '--config', daemon.configFile]);
    assert.deepEqual((JSON.parse(cli.stdout) as Json)['contacts'], {
      ...{ email: 'c@example.com', telegram: null, language: 'zh' },
    });
  });

  it('tell a player why an operator has suspended the account, and make no link of the words', async () => {
    const contacts = { email: 'owen@example.com', language: 'en' };
    const created = bodyOfSuccess(
      await daemon.api('POST', '/api/v1/accounts', { username: 'owen', contacts }),
    );
    const { id } = created['account'] as { id: string };
    const action = { type: 'suspend', reason: 'unpaid, see https://pay.example' };
    bodyOfSuccess(await daemon.api('POST', '/api/v1/accounts/bulk', { ids: [id], action, dryRun: false }));
    await eventually(async () => {
      const [notice, ...others] = await list(`account=${id}&state=delivered`);
      assert.deepEqual([notice?.['type'], notice?.['recipient']], ['account.suspended', 'player']);
      assert.equal(others.length, 0);
    });
    const content = mail.received.find(({ to }) => to === contacts.email)?.content ?? '';
    assert.match(content, /^Subject: Your account is suspended\r?$/m);
    assert.ok(content.includes('is suspended: unpaid, see https[:]//pay[.]example'), content);
    bodyOfSuccess(await daemon.api('DELETE', `/api/v1/accounts/${id}`));
  });

  it('are retried, fail with the last answer after maxTries, and are sent again by an operator', async () => {
    const failure = { status: 500, json: { ok: false, description: 'out of order' } };
    bodyOfSuccess(
      await put(
        settings({
          email: { ...secrets().email, operator: false },
          wecom: { ...secrets().wecom, operator: false },
        }),
      ),
    );
    messengers.answers.push(failure, failure);
    const name = await makeToken();
    const line = await daemon.waitForLine(({ msg }) => msg === 'notice not delivered');
    assert.deepEqual([line['type'], line['channel']], ['token.create', 'telegram']);
    const [failed] = await alertsOf(name, 'channel=telegram');
    assert.deepEqual([failed?.['state'], failed?.['tries'], failed?.['nextTryAt']], ['failed', 2, null]);
    assert.match(String(failed?.['detail']), /out of order/);
    const retry = (noticeId: string) => daemon.api('POST', `/api/v1/notices/${noticeId}/retry`);
    assert.equal((await retry(failed?.id ?? '')).status, 204);
    await eventually(async () =>
      assert.equal((await alertsOf(name, 'channel=telegram'))[0]?.['state'], 'delivered'),
    );
    assert.equal((await retry('00000000-0000-4000-8000-000000000000')).status, 404);
    assert.ok(!JSON.stringify(daemon.lines).includes(TOKEN), 'no secret in the log');
  });

  it('send at most perMinute notices a minute', async () => {
    const sent = messengers.telegrams().length;
    bodyOfSuccess(
      await put(
        settings({
          wecom: { ...secrets().wecom, operator: false },
          email: { ...secrets().email, operator: false },
          perMinute: 1,
        }),
      ),
    );
    const first = await makeToken();
    await eventually(async () => assert.equal((await alertsOf(first)).length, 1));
    const second = await makeToken();
    await eventually(async () => assert.equal((await alertsOf(second)).length, 1));
    const [waiting] = await alertsOf(first);
    assert.deepEqual(
      [waiting?.['state'], waiting?.['tries']],
      ['pending', 0],
      'a notice was already sent in this minute',
    );
    assert.equal(messengers.telegrams().length, sent);
    const counts = async () => bodyOfSuccess(await daemon.api('GET', '/api/v1/notices'))['waiting'];
    assert.equal(await counts(), 2);
    const discard = (body: Json) => daemon.api('POST', '/api/v1/notices/discard', body);
    assert.deepEqual(bodyOfSuccess(await discard({ channel: 'email' })), { discarded: 0 });
    assert.deepEqual(bodyOfSuccess(await discard({ channel: 'telegram', recipient: 'operator' })), {
      discarded: 2,
    });
    assert.equal((await alertsOf(first))[0]?.['state'], 'discarded');
    const third = await makeToken();
    await eventually(async () => assert.equal((await alertsOf(third)).length, 1));
    bodyOfSuccess(
      await put(
        settings({
          wecom: { ...secrets().wecom, operator: false },
          email: { ...secrets().email, operator: false },
        }),
      ),
    );
    await eventually(() => assert.equal(messengers.telegrams().length, sent + 1, 'only the third'));
  });

  it('count whom new settings would send to, and discard what waits in a channel that is removed', async () => {
    const soonest = { expiresAt: soon(24 + 12), contacts: { email: 'dora@example.com' } };
    bodyOfSuccess(await daemon.api('POST', '/api/v1/accounts', { username: 'dora', ...soonest }));
    const { email, telegram, wecom } = secrets();
    const onlyTelegram = { email: { ...email, operator: false, players: false }, telegram, wecom };
    const quiet = { ...onlyTelegram, wecom: { ...wecom, operator: false }, perMinute: 1 };
    bodyOfSuccess(await put(settings(quiet)));
    const name = await makeToken();
    await eventually(async () => assert.equal((await alertsOf(name)).length, 1));
    const preview = async (change: Json) =>
      bodyOfSuccess(await daemon.api('POST', `${SETTINGS}/preview`, settings(change)));
    const before = { digests: 1, players: 0, nextDay: 0 };
    const switchedOff = { ...quiet, telegram: { ...telegram, operator: false } };
    // Carla has an address, too; the expiry of Dora is announced a day before.
    assert.deepEqual(await preview({ ...quiet, email }), {
      ...{ before, after: { digests: 2, players: 2, nextDay: 1 }, discarded: 0 },
    });
    assert.equal(((await preview(switchedOff))['after'] as Json)['digests'], 0);
    assert.equal((await preview(switchedOff))['discarded'], 1);
    assert.equal((await alertsOf(name))[0]?.['state'], 'pending', 'the preview changes nothing');
    bodyOfSuccess(await put(settings(switchedOff)));
    await eventually(async () => assert.equal((await alertsOf(name))[0]?.['state'], 'discarded'));
  });

  it('send nothing but a code to an address of a seller’s player until it is confirmed', async () => {
    bodyOfSuccess(await put(settings(secrets())));
    const mailsTo = (address: string) => mail.received.filter(({ to }) => to === address);
    // What is found before the channel is switched on is not sent.
    const alerts = mailsTo('boss@example.com').length;
    await eventually(async () => {
      await makeToken();
      assert.ok(mailsTo('boss@example.com').length > alerts);
    });
    const shop = await signIn(daemon, { username: 'shop', password: 'a long password' });
    const username = 'WINNER http://evil.example';
    const create = async (name: string, address: string) => {
      const fields = { username: name, expiresAt: soon(12), contacts: { email: address, language: 'en' } };
      const made = bodyOfSuccess(await shop.api('POST', '/api/v1/accounts', fields));
      return (made['account'] as { id: string }).id;
    };
    const id = await create(username, 'victim@example.com');
    const own = await daemon.api('POST', '/api/v1/accounts', {
      ...{ username: 'own', expiresAt: soon(12), contacts: { email: 'own@example.com' } },
    });
    assert.equal(own.status, 201);
    await eventually(() => assert.equal(mailsTo('own@example.com').length, 1));
    assert.deepEqual(mailsTo('victim@example.com'), []);
    const path = `/api/v1/accounts/${id}/contacts`;
    const states = async () => bodyOfSuccess(await shop.api('GET', path));
    assert.deepEqual(await states(), { email: 'unconfirmed', telegram: null });
    const send = () => shop.api('POST', `${path}/code`, { channel: 'email' });
    assert.deepEqual(bodyOfSuccess(await send()), { delivered: true });
    const again = await send();
    assert.equal(again.status, 429, 'at most one code in ten minutes');
    assert.equal((await list(`account=${id}`)).length, 1, 'what was refused is not in the history');
    assert.equal((await shop.api('POST', `${path}/code`, { channel: 'telegram' })).status, 409);
    const [sent, ...others] = mailsTo('victim@example.com');
    assert.equal(others.length, 0);
    assert.doesNotMatch(sent?.content ?? '', /WINNER|evil|shop/, 'nothing that the seller wrote');
    const [, code = ''] = /Your code: (\S+)/.exec(sent?.content ?? '') ?? [];
    const confirm = (typed: string) => shop.api('POST', `${path}/confirm`, { channel: 'email', code: typed });
    assert.equal((await confirm('aaaaa-aaaaa')).status, 409);
    assert.ok(!(await daemon.api('GET', '/api/v1/notices')).text.includes(code));
    assert.deepEqual(bodyOfSuccess(await confirm(code.toUpperCase())), { email: 'trusted', telegram: null });

    bodyOfSuccess(await shop.api('PATCH', `/api/v1/accounts/${id}`, { expiresAt: soon(24 * 5) }));
    await eventually(() => assert.equal(mailsTo('victim@example.com').length, 2));
    const reminder = mailsTo('victim@example.com')[1]?.content ?? '';
    assert.match(reminder, /WINNER/);
    assert.doesNotMatch(reminder, /:\/\/evil|evil\.example/, 'no link');
    bodyOfSuccess(
      await shop.api('PATCH', `/api/v1/accounts/${id}`, { contacts: { email: 'other@example.com' } }),
    );
    assert.deepEqual(await states(), { email: 'unconfirmed', telegram: null });
    bodyOfSuccess(await put(settings({ ...secrets(), trustSellers: true })));
    assert.deepEqual(await states(), { email: 'trusted', telegram: null }, 'the operator trusts its sellers');
    await create('trusted', 'trusted@example.com');
    await eventually(() => assert.equal(mailsTo('trusted@example.com').length, 1));
  });

  it('hand an account over, by a message in which all is of this account', async () => {
    bodyOfSuccess(await put(settings(secrets())));
    const mails = () => mail.received.filter(({ to }) => to === 'new@example.com');
    const fields = {
      expiresAt: '2100-01-01T00:00:00Z',
      contacts: { email: 'new@example.com', language: 'en' },
    };
    const made = bodyOfSuccess(
      await daemon.api('POST', '/api/v1/accounts', { ...fields, username: 'anna.b', subscription: true }),
    );
    const { id } = made['account'] as { id: string };
    const { password } = made['credentials'] as { password: string };
    const { url } = made['subscription'] as { url: string };
    const path = `/api/v1/accounts/${id}/handover`;
    const handOver = (body: Json, headers = {}) => daemon.api('POST', path, body, headers);

    const message = bodyOfSuccess(await handOver({}));
    assert.deepEqual([message['channels'], message['delivered']], [['email'], null]);
    assert.match(
      String(message['text']),
      /^User name: anna\.b\nExpires: 2100-01-01 08:00 \(Asia\/Shanghai\)$/m,
    );
    assert.doesNotMatch(
      String(message['text']),
      /Password|Plan|app/,
      'lines with an unknown value are left out',
    );
    assert.match(String(bodyOfSuccess(await handOver({ language: 'zh' }))['text']), /^用户名：anna\.b$/m);
    for (const [wrong, code] of [
      [{ password: 'buy at evil.example' }, 'account-password'],
      [{ link: 'https://evil.example/sub/AAAAAAAAAAAAAAAAAAAAAAAA' }, 'account-link'],
      [{ link: 'buy at evil.example' }, 'account-link'],
    ] as const) {
      const refused = await handOver({ ...wrong, sendBy: 'email' });
      assert.equal(refused.status, 400);
      assert.match(refused.text, new RegExp(code));
    }
    const noChat = await handOver({ sendBy: 'telegram' });
    assert.match(noChat.text, /no-player-channel/);
    assert.equal(mails().length, 0);

    const given = { password, link: `https://evil.example${new URL(url).pathname}`, sendBy: 'email' };
    for (const _ of ['first', 'repeated'])
      assert.equal(bodyOfSuccess(await handOver(given, { 'idempotency-key': 'once' }))['delivered'], true);
    const [sent, ...others] = mails();
    assert.equal(others.length, 0);
    // Without the soft line breaks of quoted-printable.
    const content = sent?.content.replaceAll('=\n', '') ?? '';
    for (const value of [password, url, 'anna.b']) assert.ok(content.includes(value), value);
    assert.ok(!content.includes('evil'));

    const history = await daemon.api('GET', `/api/v1/notices?account=${id}`);
    assert.ok(!history.text.includes(password) && !history.text.includes(new URL(url).pathname));
    const [shown] = (history.json as { items: Json[] }).items;
    assert.deepEqual([shown?.['type'], shown?.['state']], ['account.handover', 'delivered']);
    assert.equal((await daemon.api('POST', `/api/v1/notices/${String(shown?.['id'])}/retry`)).status, 404);
  });

  it('hand the account of a seller over only to an address that its player has confirmed', async () => {
    bodyOfSuccess(await put(settings({ ...secrets(), trustSellers: false })));
    const shop = await signIn(daemon, { username: 'shop', password: 'a long password' });
    const fields = { username: 'unasked', contacts: { email: 'unasked@example.com' } };
    const made = bodyOfSuccess(await shop.api('POST', '/api/v1/accounts', fields));
    const path = `/api/v1/accounts/${(made['account'] as { id: string }).id}/handover`;
    assert.deepEqual(bodyOfSuccess(await shop.api('POST', path, {}))['channels'], []);
    const refused = await shop.api('POST', path, { sendBy: 'email' });
    assert.match(refused.text, /contact-unconfirmed/);
    assert.ok(!mail.received.some(({ to }) => to === 'unasked@example.com'));
  });
});
