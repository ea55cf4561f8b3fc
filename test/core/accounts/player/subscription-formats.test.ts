// What subscriptions say to programs, checked by schemas that others keep.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Entry } from '../../../../src/core/accounts/player/entries.js';
import { subscriptionText } from '../../../../src/core/accounts/player/subscription-formats.js';

const SCHEMA = createRequire(import.meta.url).resolve('@black-duty/sing-box-schema/schema.json');

const plain: Entry = {
  name: 'plain',
  host: 'gate.example',
  port: 1080,
  isTls: false,
  isSocks: true,
  isHttp: true,
  hasUdp: true,
  username: 'player "1" \\',
  password: "p:a<ss> & 'w' 密码",
};
const entries: readonly Entry[] = [
  plain,
  { ...plain, name: 'without UDP', hasUdp: false },
  { ...plain, name: 'behind a certificate', isTls: true },
  { ...plain, name: 'HTTP', isSocks: false, hasUdp: false },
  { ...plain, name: 'HTTPS', isSocks: false, isTls: true, hasUdp: false },
  { ...plain, name: 'IPv6', host: '2001:db8::1' },
];

describe('the configuration for sing-box', () => {
  // The schema's own names of its parts are not those that JSON Schema knows.
  const isName = (key: string, value: unknown) => key === 'id' && typeof value === 'string';
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'), (key, value) =>
    isName(key, value) ? undefined : value,
  );
  const validate = new Ajv2020({ strict: false, allErrors: true, logger: false }).compile(schema);
  const written = (list: readonly Entry[]) =>
    JSON.parse(subscriptionText('sing-box', list, 'Gate 门').text) as {
      outbounds: Record<string, unknown>[];
    };

  it('is what its schema allows, with one entry and with several of each kind', () => {
    for (const list of [entries, ...entries.map((entry) => [entry])])
      assert.ok(validate(written(list)), JSON.stringify(validate.errors));
  });

  it('would not be with another field or value', () => {
    const config = written([plain]);
    const [selector, proxy, ...others] = config.outbounds;
    for (const change of [{ server_port: 'x' }, { tls: { enabled: true } }, { type: 'socks6' }])
      assert.ok(!validate({ ...config, outbounds: [selector, { ...proxy, ...change }, ...others] }));
  });
});
