// The account API as a table of single requests and their responses.
import type { HttpRequest } from '../helpers/http.js';

export interface ApiCase {
  readonly name: string;
  /** `{id}` stands for the AID of an account that exists, `{name}` for a user name that is free. */
  readonly path: string;
  readonly request: HttpRequest;
  /** Sent without the admin's credentials. */
  readonly isAnonymous?: boolean;
  readonly status: number;
  /** The body, parsed; not compared when undefined. */
  readonly body?: unknown;
  /** Expected in X-Error-Detail. */
  readonly detail?: RegExp;
  readonly allow?: string;
}

export const NO_SUCH_ID = '00000000-0000-4000-8000-000000000000';

const LIST = '/ProxyAccount/GetProxyAccountList';
const BY_ID = '/ProxyAccount/GetProxyAccountByID';
const ADD = '/ProxyAccount/AddProxyAccount';
const UPDATE = '/ProxyAccount/UpdateProxyAccount';
const DELETE = '/ProxyAccount/DeleteProxyAccount';
const CURRENT = '/ProxyAccount/GetCurrentUser';
const WHITELIST = '/api/v1/settings/whitelist';

const MALFORMED = '请求格式错误';
const BAD_DATE = '到期时间格式错误';
const EMPTY_CREDENTIALS = '用户名和密码不能为空';
const JSON_TYPE = { 'content-type': 'application/json' };

function post(path: string, json: unknown, rest: Omit<ApiCase, 'path' | 'request'>): ApiCase {
  return { path, request: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(json) }, ...rest };
}

/** Missing, malformed and wrong credentials get the same 401 on every path. */
function authenticationCases(): ApiCase[] {
  const guarded: [string, string][] = [
    ['GET', LIST],
    ['GET', `${BY_ID}?AID={id}`],
    ['POST', ADD],
    ['POST', UPDATE],
    ['POST', `${DELETE}?AID={id}`],
    ['GET', WHITELIST],
    ['PUT', WHITELIST],
    ['GET', '/nowhere'],
    ['DELETE', LIST],
    ['OPTIONS', LIST],
  ];
  const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64');
  const headers: [string, string | null][] = [
    ['no Authorization header', null],
    ['a wrong password', `Basic ${encoded('admin:wrong')}`],
  ];
  const malformed: [string, string | string[]][] = [
    ['a wrong user name', `Basic ${encoded('root:pass:wörd:口令')}`],
    ['the user name in another case', `Basic ${encoded('Admin:pass:wörd:口令')}`],
    ['an empty password', `Basic ${encoded('admin:')}`],
    ['a cut password', `Basic ${encoded('admin:pass')}`],
    ['only the scheme', 'Basic'],
    ['the scheme and a space', 'Basic '],
    ['no base64', 'Basic ***'],
    ['base64 with a stray character', `Basic ${encoded('admin:x')}!`],
    ['no colon', `Basic ${encoded('admin')}`],
    ['bytes that are not UTF-8', `Basic ${encoded(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))}`],
    ['a bearer token', 'Bearer abcdef'],
    ['the credentials unencoded', 'Basic admin:pass'],
    ['a digest', 'Digest username="admin"'],
    ['an empty header', ''],
    ['credentials twice in one header', `Basic ${encoded('admin:x')}, Basic ${encoded('admin:x')}`],
  ];
  const refusal = { isAnonymous: true, status: 401, body: '用户名或密码错误' } as const;
  return [
    ...guarded.flatMap(([method, path]) =>
      headers.map(([name, authorization]) => ({
        name: `401 ${method} ${path} with ${name}`,
        path,
        request: { method, headers: authorization === null ? {} : { authorization } },
        ...refusal,
      })),
    ),
    ...malformed.map(([name, authorization]) => ({
      name: `401 with ${name}`,
      path: LIST,
      request: { headers: { authorization } },
      ...refusal,
    })),
  ];
}

/** Routing: methods, spellings of paths, unknown paths. */
function routingCases(): ApiCase[] {
  const methods: Record<string, string[]> = {
    [LIST]: ['GET', 'HEAD'],
    [BY_ID]: ['GET', 'HEAD'],
    [ADD]: ['POST'],
    [UPDATE]: ['POST'],
    [DELETE]: ['POST'],
    [CURRENT]: ['GET', 'HEAD'],
    [WHITELIST]: ['GET', 'HEAD', 'PUT'],
  };
  const wrong = Object.entries(methods).flatMap(([path, allowed]) =>
    ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']
      .filter((method) => !allowed.includes(method))
      .map((method) => ({
        name: `405 ${method} ${path}`,
        path,
        request: { method },
        status: 405,
        body: method === 'HEAD' ? undefined : '请求方法不允许',
        allow: [...allowed, 'OPTIONS'].sort().join(', '),
      })),
  );
  const options = Object.entries(methods).map(([path, allowed]) => ({
    name: `OPTIONS ${path} names the methods and grants no other site anything`,
    path,
    request: {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
    },
    status: 204,
    allow: [...allowed, 'OPTIONS'].sort().join(', '),
  }));
  const unknown = [
    '/ProxyAccount',
    '/ProxyAccount/',
    '/ProxyAccount/GetProxyAccountLists',
    '/ProxyAccount/GetProxyAccountList/x',
    '/ProxyAccount//GetProxyAccountList',
    '/%50roxyAccount/GetProxyAccountList',
    '/ProxyAccount/%ff',
    '/ProxyAccount/..%2fProxyAccount/GetProxyAccountList',
    '/api/v1',
    '/__proto__',
    '/constructor',
    '//ProxyAccount/GetProxyAccountList',
  ].map((path) => ({ name: `404 ${path}`, path, request: {}, status: 404, body: '路径不存在' }));
  const spellings = [LIST.toLowerCase(), LIST.toUpperCase(), `${LIST}/`, `${LIST}?x=1`, `${LIST}?`].map(
    (path) => ({
      name: `200 ${path}`,
      path,
      request: {},
      status: 200,
    }),
  );
  return [...wrong, ...options, ...unknown, ...spellings];
}

/** The query parameter AID, for both endpoints that have it, and the field AID of Update. */
function accountIdCases(): ApiCase[] {
  const invalid = [
    '1',
    'not-a-guid',
    '{00000000-0000-4000-8000-000000000000}',
    '00000000000040008000000000000000',
    '00000000-0000-4000-8000-00000000000',
    '00000000-0000-4000-8000-0000000000000',
    'g0000000-0000-4000-8000-000000000000',
    `${NO_SUCH_ID} `,
    ` ${NO_SUCH_ID}`,
    `${NO_SUCH_ID}\n`,
    "' OR 1=1 --",
    '٠0000000-0000-4000-8000-000000000000',
    'x'.repeat(4000),
  ];
  const byQuery = (method: string, path: string, missingStatus: number): ApiCase[] => [
    ...invalid.map((id) => ({
      name: `400 ${path} with AID ${JSON.stringify(id.slice(0, 60))}`,
      path: `${path}?AID=${encodeURIComponent(id)}`,
      request: { method },
      status: 400,
      body: '无效的账号ID',
      detail: /^AID is "/,
    })),
    ...['', '?', '?AID', '?AID=', '?AID=%20', '?BID=1'].map((query) => ({
      name: `400 ${path}${query}: no AID`,
      path: `${path}${query}`,
      request: { method },
      status: 400,
      body: '账号ID不能为空',
    })),
    ...[
      `?AID=${NO_SUCH_ID}&AID=${NO_SUCH_ID}`,
      '?AID={id}&aid={id}',
      '?AID={id}&AID=',
      '?AID={id}&x=1&x=2',
    ].map((query) => ({
      name: `400 ${path}${query}: given twice`,
      path: `${path}${query}`,
      request: { method },
      status: 400,
      body: MALFORMED,
      detail: /given more than once/,
    })),
    {
      name: `400 ${path} with a broken escape`,
      path: `${path}?AID=%zz`,
      request: { method },
      status: 400,
      body: '无效的账号ID',
    },
    {
      name: `${missingStatus} ${path} of no account`,
      path: `${path}?AID=${NO_SUCH_ID}`,
      request: { method },
      status: missingStatus,
      body: '账号不存在',
    },
  ];
  return [
    ...byQuery('GET', BY_ID, 404),
    ...byQuery('POST', DELETE, 400),
    ...['?aid={id}', '?Aid={id}&other=1', '?%41ID={id}'].map((query) => ({
      name: `200 ${BY_ID}${query}`,
      path: `${BY_ID}${query}`,
      request: {},
      status: 200,
    })),
    ...invalid.map((AID) =>
      post(UPDATE, { AID }, { name: `400 update of ${AID.slice(0, 60)}`, status: 400, body: '无效的账号ID' }),
    ),
    ...[{}, { AID: null }, { AID: '' }, { AID: '  ' }].map((body) =>
      post(UPDATE, body, {
        name: `400 update of ${JSON.stringify(body)}`,
        status: 400,
        body: '账号ID不能为空',
      }),
    ),
    ...[1, true, {}, ['{id}']].map((AID) =>
      post(
        UPDATE,
        { AID },
        {
          name: `400 update of ${JSON.stringify(AID)}`,
          status: 400,
          body: MALFORMED,
          detail: /^AID is of type (number|boolean|object|array); expected a string$/,
        },
      ),
    ),
    post(UPDATE, { AID: NO_SUCH_ID }, { name: '400 update of no account', status: 400, body: '账号不存在' }),
  ];
}

/** Bodies that are no JSON object, for every endpoint that takes one. */
function bodyCases(): ApiCase[] {
  const big = (bytes: number) => {
    const empty = JSON.stringify({ padding: '' });
    return JSON.stringify({ padding: 'x'.repeat(bytes - empty.length) });
  };
  const bodies: [string, Omit<HttpRequest, 'method'>, number, RegExp][] = [
    ['nothing at all', {}, 400, /there is no body/],
    ['nothing under a JSON type', { headers: JSON_TYPE }, 400, /there is no body/],
    ['a body of no bytes', { headers: JSON_TYPE, body: '' }, 400, /there is no body/],
    ['white space', { headers: JSON_TYPE, body: ' \r\n' }, 400, /is empty/],
    ['an array', { headers: JSON_TYPE, body: '[]' }, 400, /is an array/],
    ['null', { headers: JSON_TYPE, body: 'null' }, 400, /is null/],
    ['a number', { headers: JSON_TYPE, body: '1' }, 400, /is a number/],
    ['a string', { headers: JSON_TYPE, body: '"x"' }, 400, /is a string/],
    ['true', { headers: JSON_TYPE, body: 'true' }, 400, /is a boolean/],
    ['a cut object', { headers: JSON_TYPE, body: '{"a":1' }, 400, /not valid JSON/],
    ['two objects', { headers: JSON_TYPE, body: '{}{}' }, 400, /not valid JSON/],
    ['single quotes', { headers: JSON_TYPE, body: "{'a':1}" }, 400, /not valid JSON/],
    ['a trailing comma', { headers: JSON_TYPE, body: '{"a":1,}' }, 400, /not valid JSON/],
    ['a comment', { headers: JSON_TYPE, body: '{/**/}' }, 400, /not valid JSON/],
    ['NaN', { headers: JSON_TYPE, body: '{"a":NaN}' }, 400, /not valid JSON/],
    [
      'a form under a JSON type',
      { headers: JSON_TYPE, body: 'Username=a&Password=b' },
      400,
      /not valid JSON/,
    ],
    [
      'invalid UTF-8',
      { headers: JSON_TYPE, body: Buffer.from('{"a":"\xff"}', 'latin1') },
      400,
      /not valid UTF-8/,
    ],
    [
      'UTF-16',
      { headers: JSON_TYPE, body: Buffer.from('{"a":1}', 'utf16le') },
      400,
      /not valid (UTF-8|JSON)/,
    ],
    ['30,000 arrays in each other', { headers: JSON_TYPE, body: '['.repeat(30_000) }, 400, /not valid JSON/],
    [
      '30,000 closed arrays',
      { headers: JSON_TYPE, body: `${'['.repeat(30_000)}${']'.repeat(30_000)}` },
      400,
      /an array/,
    ],
    [
      'a name twice in two cases',
      { headers: JSON_TYPE, body: '{"aid":"1","AID":"1"}' },
      400,
      /"AID" is given more/,
    ],
    ['64 KiB and one byte', { headers: JSON_TYPE, body: big(65_537) }, 413, /at most 65536 bytes/],
    ['1 MiB', { headers: JSON_TYPE, body: big(1_048_576) }, 413, /at most 65536 bytes/],
    [
      '64 KiB and one byte, chunked',
      { headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, body: big(65_537) },
      413,
      /at most/,
    ],
    ['no content type', { body: '{}' }, 415, /^Content-Type is missing/],
    [
      'text/plain',
      { headers: { 'content-type': 'text/plain' }, body: '{}' },
      415,
      /^Content-Type is "text\/plain"/,
    ],
    [
      'a form',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' },
      415,
      /^Content-Type/,
    ],
    [
      'multipart',
      { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--' },
      415,
      /^Content-T/,
    ],
    [
      'JSON in another charset',
      { headers: { 'content-type': 'application/json; charset=gbk' }, body: '{}' },
      415,
      /gbk/,
    ],
    [
      'a type that only begins with application/json',
      { headers: { 'content-type': 'application/jsonx' }, body: '{}' },
      415,
      /jsonx/,
    ],
    ['an empty content type', { headers: { 'content-type': '' }, body: '{}' }, 415, /^Content-Type is/],
    [
      'gzip',
      { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: '{}' },
      415,
      /^Content-Encoding is "gzip"/,
    ],
    ['br', { headers: { ...JSON_TYPE, 'content-encoding': 'br' }, body: '{}' }, 415, /^Content-Encoding/],
    [
      'deflate',
      { headers: { ...JSON_TYPE, 'content-encoding': 'deflate' }, body: '{}' },
      415,
      /^Content-Encoding/,
    ],
    [
      'an unknown coding',
      { headers: { ...JSON_TYPE, 'content-encoding': 'x' }, body: '{}' },
      415,
      /^Content-Encoding/,
    ],
  ];
  const texts: Record<number, string> = { 400: MALFORMED, 413: '请求体过大', 415: '不支持的请求内容类型' };
  const endpoints: [string, string][] = [
    ['POST', ADD],
    ['POST', UPDATE],
    ['PUT', WHITELIST],
  ];
  return [
    ...endpoints.flatMap(([method, path]) =>
      bodies.map(([name, request, status, detail]) => ({
        name: `${status} ${path} with ${name}`,
        path,
        request: { method, ...request },
        status,
        body: texts[status],
        detail,
      })),
    ),
    {
      name: 'a body of exactly 64 KiB is read',
      path: ADD,
      request: { method: 'POST', headers: JSON_TYPE, body: big(65_536) },
      status: 400,
      body: EMPTY_CREDENTIALS,
    },
    {
      name: 'a body of exactly 64 KiB is read, chunked',
      path: ADD,
      request: {
        method: 'POST',
        headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
        body: big(65_536),
      },
      status: 400,
      body: EMPTY_CREDENTIALS,
    },
    ...[
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
      'application/json; charset="utf-8"',
    ].map((type) => ({
      name: `the content type ${type} is JSON`,
      path: ADD,
      request: { method: 'POST', headers: { 'content-type': type }, body: '{}' },
      status: 400,
      body: EMPTY_CREDENTIALS,
    })),
    {
      name: 'a byte order mark before the JSON is ignored',
      path: ADD,
      request: { method: 'POST', headers: JSON_TYPE, body: '\ufeff{}' },
      status: 400,
      body: EMPTY_CREDENTIALS,
    },
  ];
}

/** The fields of Add and Update: missing, empty, of the wrong type, too long. */
function fieldCases(): ApiCase[] {
  const credentials = { Username: '{name}', Password: 'secret' };
  const empty: object[] = [
    {},
    { Username: '{name}' },
    { Password: 'secret' },
    { Username: '', Password: 'secret' },
    { Username: '{name}', Password: '' },
    { Username: '  ', Password: 'secret' },
    { Username: '{name}', Password: ' \t' },
    { Username: null, Password: 'secret' },
    { Username: '{name}', Password: null },
    { Name: 'a', Pass: 'b' },
    JSON.parse('{"__proto__":{"Username":"a","Password":"b"}}') as object,
    { constructor: { Username: 'a', Password: 'b' } },
  ];
  const wrongAdd: [object, RegExp][] = [
    ...[1, true, {}, ['a'], 0, false].map((value): [object, RegExp] => [
      { ...credentials, Username: value },
      /^Username is of type \w+; expected a string$/,
    ]),
    ...[1, true, {}, ['a']].map((value): [object, RegExp] => [
      { ...credentials, Password: value },
      /^Password is of type \w+; expected a string$/,
    ]),
    [{ ...credentials, Username: 'x'.repeat(256) }, /^Username has 256 bytes; expected 1 to 255/],
    [{ ...credentials, Username: '名'.repeat(86) }, /^Username has 258 bytes/],
    [{ ...credentials, Username: 'a\nb' }, /without control characters/],
    [{ ...credentials, Username: 'a\u0000b' }, /without control characters/],
    [{ ...credentials, Username: 'a\u007fb' }, /without control characters/],
    [{ ...credentials, Username: 'a\ud800b' }, /^Username has/],
    [
      { ...credentials, Password: 'x'.repeat(256) },
      /^Password has 256 bytes; expected 1 to 255 bytes of UTF-8$/,
    ],
  ];
  const wrongSettings: [object, RegExp][] = [
    ...['true', 1, 0, null, {}, []].map((value): [object, RegExp] => [
      { IsEnabled: value },
      /^IsEnabled is of type \w+; expected true or false$/,
    ]),
    ...[1, true, {}, ['a']].map((value): [object, RegExp] => [
      { Remarks: value },
      /^Remarks is of type \w+; expected a string$/,
    ]),
    [{ Remarks: 'a\u0000b' }, /^Remarks holds/],
    [{ Remarks: '\udc00' }, /^Remarks holds/],
  ];
  const dates = [
    '',
    ' ',
    'tomorrow',
    '2030',
    '2030-1-1',
    '2030/01/01',
    '01.02.2030',
    '2030-02-30',
    '2030-13-01T00:00:00',
    '2030-01-01T24:00:00',
    '2030-01-01T00:60:00',
    '2030-01-01 00:00:00',
    '2030-01-01T00:00',
    '2030-01-01T00:00:00+25:00',
    '2030-01-01T00:00:00 Z',
    '0000-01-01T00:00:00',
    '10000-01-01T00:00:00',
    '-2030-01-01',
    '/Date(1893456000000)/',
    '٢٠٣٠-01-01',
    1_893_456_000,
    true,
    {},
    [],
  ];
  const update = { AID: '{id}' };
  const malformed = (path: string, body: object, detail: RegExp) =>
    post(path, body, { name: `400 ${path} with ${shown(body)}`, status: 400, body: MALFORMED, detail });
  return [
    ...empty.map((body) =>
      post(ADD, body, { name: `400 add with ${shown(body)}`, status: 400, body: EMPTY_CREDENTIALS }),
    ),
    ...wrongAdd.map(([body, detail]) => malformed(ADD, body, detail)),
    ...wrongSettings.flatMap(([fields, detail]) => [
      malformed(ADD, { ...credentials, ...fields }, detail),
      malformed(UPDATE, { ...update, ...fields }, detail),
    ]),
    ...[1, true, {}, ['a']].map((Password) =>
      malformed(UPDATE, { ...update, Password }, /^Password is of type/),
    ),
    malformed(UPDATE, { ...update, Password: 'x'.repeat(256) }, /^Password has 256 bytes/),
    ...dates.flatMap((ExpiresAt) =>
      [
        { path: ADD, body: { ...credentials, ExpiresAt } },
        { path: UPDATE, body: { ...update, ExpiresAt } },
      ].map(({ path, body }) =>
        post(path, body, {
          name: `400 ${path} with ${shown(body)}`,
          status: 400,
          body: BAD_DATE,
          detail: /^ExpiresAt is .*; expected null or yyyy-MM-ddTHH:mm:ss/,
        }),
      ),
    ),
    post(
      ADD,
      { USERNAME: '{name}', pAsSwOrD: 'x', isenabled: false },
      {
        name: 'field names match regardless of case',
        status: 200,
        body: '添加账号成功',
      },
    ),
    post(
      ADD,
      { ...credentials, Extra: 1, __proto: 2 },
      {
        name: 'unknown fields are ignored',
        status: 200,
        body: '添加账号成功',
      },
    ),
    post(
      ADD,
      { Username: '名'.repeat(85), Password: '口'.repeat(85) },
      {
        name: 'credentials may have 255 bytes',
        status: 200,
        body: '添加账号成功',
      },
    ),
    ...['', '  ', null].map((Password) =>
      post(
        UPDATE,
        { ...update, Password },
        {
          name: `200 update with the password ${JSON.stringify(Password)}`,
          status: 200,
          body: '更新账号成功',
        },
      ),
    ),
  ];
}

/** GetCurrentUser from 127.0.0.1, and the whitelist setting. */
function otherCases(): ApiCase[] {
  const current = (
    name: string,
    headers: Record<string, string | string[]>,
    status: number,
    body: unknown,
  ): ApiCase => ({
    name: `${status} current user with ${name}`,
    path: CURRENT,
    request: { headers },
    isAnonymous: true,
    status,
    body,
  });
  const whitelist = (json: unknown, detail: RegExp): ApiCase => ({
    name: `400 whitelist ${shown(json)}`,
    path: WHITELIST,
    request: { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify(json) },
    status: 400,
    body: MALFORMED,
    detail,
  });
  return [
    current('no header', {}, 401, '缺少X-Socks5-Username请求头'),
    current('an empty header', { 'x-socks5-username': '' }, 401, '缺少X-Socks5-Username请求头'),
    current('an unknown name', { 'x-socks5-username': 'nobody' }, 404, '用户不存在'),
    current('another case', { 'x-socks5-username': 'EXISTING' }, 404, '用户不存在'),
    current('a name of a prototype', { 'x-socks5-username': '__proto__' }, 404, '用户不存在'),
    current('bytes that are not UTF-8', { 'x-socks5-username': '\xff' }, 404, '用户不存在'),
    current('the header twice', { 'x-socks5-username': ['existing', 'existing'] }, 400, MALFORMED),
    current(
      'wrong Basic credentials beside it',
      { 'x-socks5-username': 'nobody', authorization: 'Basic x' },
      404,
      '用户不存在',
    ),
    whitelist({}, /^whitelist is missing/),
    whitelist({ whitelist: null }, /^whitelist must be of type string/),
    whitelist({ whitelist: ['127.0.0.1'] }, /^whitelist must be of type string/),
    whitelist({ whitelist: 1 }, /^whitelist must be of type string/),
    whitelist({ whitelist: '127.0.0.1, 300.1.1.1' }, /: "300\.1\.1\.1"$/),
    whitelist({ whitelist: '127.0.0.1, localhost' }, /: "localhost"$/),
    whitelist({ whitelist: '*.1' }, /: "\*\.1"$/),
    whitelist({ whitelist: '10.0.0.0/33，名' }, /: "10\.0\.0\.0\/33", "\\u540d"$/),
  ];
}

function shown(body: unknown): string {
  const text = JSON.stringify(body);
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}

export const API_CASES: readonly ApiCase[] = [
  ...authenticationCases(),
  ...routingCases(),
  ...accountIdCases(),
  ...bodyCases(),
  ...fieldCases(),
  ...otherCases(),
];
