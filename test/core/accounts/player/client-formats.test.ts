// Each client format, parsed as by the program for which it is written.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import {
  type CLIENT_FORMATS,
  clientText,
  clientTexts,
} from '../../../../src/core/accounts/player/client-formats.js';

const access = {
  username: 'player "1" \\',
  password: "p:a<ss> & 'w' 密码",
  host: 'gate.example',
  port: 4443,
};
const textIn = (format: (typeof CLIENT_FORMATS)[number], change: Partial<typeof access> = {}) =>
  clientText(format, { ...access, ...change });

describe('client formats', () => {
  it('have a fixed order and file names', () => {
    assert.deepEqual(
      clientTexts(access).map(({ format, text, fileName }) => [format, typeof text, fileName]),
      [
        ['link', 'string', null],
        ['plain', 'string', null],
        ['clash', 'string', 'clash.yaml'],
        ['sing-box', 'string', 'sing-box.json'],
        ['proxifier', 'string', 'pulsegate.ppx'],
        ['shadowrocket', 'string', null],
      ],
    );
  });

  it('plain: host:port:user:password, where the password is the rest of the line', () => {
    assert.equal(textIn('plain'), `gate.example:4443:${access.username}:${access.password}`);
    assert.equal(
      textIn('plain', { host: '2001:db8::1', username: 'a' }),
      `[2001:db8::1]:4443:a:${access.password}`,
    );
    assert.equal(textIn('plain', { username: 'a:b' }), null);
    assert.equal(textIn('plain', { password: 'two\nlines' }), null);
  });

  it('Clash: the YAML has the expected values', () => {
    for (const each of [
      access,
      { ...access, username: '\u2028yes', password: '\u0001 #: - null', host: '::1' },
    ]) {
      assert.deepEqual(parse(clientText('clash', each) ?? ''), {
        proxies: [
          {
            name: `${each.username}@${each.host}`,
            type: 'socks5',
            server: each.host,
            port: 4443,
            username: each.username,
            password: each.password,
            udp: true,
          },
        ],
      });
    }
  });

  it('sing-box: the JSON has the expected values', () => {
    assert.deepEqual(JSON.parse(textIn('sing-box') ?? ''), {
      outbounds: [
        {
          type: 'socks',
          tag: `${access.username}@gate.example`,
          server: 'gate.example',
          server_port: 4443,
          version: '5',
          username: access.username,
          password: access.password,
        },
      ],
    });
  });

  it('Proxifier: special characters of XML are escaped, and characters that XML does not allow are refused', () => {
    const profile = textIn('proxifier') ?? '';
    const elementOf = (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(profile)?.[1];
    const text = (escaped = '') =>
      escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    assert.equal(text(elementOf('Username')), access.username);
    assert.equal(text(elementOf('Password')), access.password);
    assert.deepEqual([elementOf('Address'), elementOf('Port')], ['gate.example', '4443']);
    assert.match(profile, /<Encryption mode="disabled" \/>/);
    assert.equal(textIn('proxifier', { password: 'a\u0001' }), null);
  });

  it('Shadowrocket: user:password@host:port in base64, refused with ambiguous separators', () => {
    const [, inner = '', name = ''] = /^socks:\/\/([\w+/=]+)#(.*)$/.exec(textIn('shadowrocket') ?? '') ?? [];
    assert.equal(
      Buffer.from(inner, 'base64').toString(),
      `${access.username}:${access.password}@gate.example:4443`,
    );
    assert.equal(decodeURIComponent(name), `${access.username}@gate.example`);
    assert.equal(textIn('shadowrocket', { username: 'a@b' }), null);
    assert.equal(textIn('shadowrocket', { username: 'a:b' }), null);
    assert.equal(textIn('shadowrocket', { password: 'a@b' }), null);
  });
});
