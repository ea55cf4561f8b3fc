// The same requests to tinyproxy, squid and ours: where the status that a client sees differs, it differs as written here, and why.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, it } from 'node:test';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { needs } from '../helpers/programs.js';
import { RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { startOursForHttp, startSquid, startTinyproxy, USER } from './servers.js';

const LOGIN = `Proxy-Authorization: Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}\r\n`;
const WRONG = `Proxy-Authorization: Basic ${Buffer.from(`${USER.username}:wrong`).toString('base64')}\r\n`;

/** What is sent, by what it is; `web` is host and port of a server that answers `hello`. */
const requests = (web: string): Readonly<Record<string, string>> => ({
  CONNECT: connectHead(web, LOGIN),
  'CONNECT without a login': connectHead(web, ''),
  'CONNECT with a wrong password': connectHead(web, WRONG),
  'CONNECT to a closed port': connectHead('127.0.0.1:1', LOGIN),
  'CONNECT to an unknown name': connectHead('no-such-name.invalid:80', LOGIN),
  'CONNECT without a port': connectHead('127.0.0.1', LOGIN),
  GET: `GET http://${web}/ HTTP/1.1\r\nHost: ${web}\r\n${LOGIN}Connection: close\r\n\r\n`,
  'GET without a login': `GET http://${web}/ HTTP/1.1\r\nHost: ${web}\r\n\r\n`,
  'GET by HTTP/1.0': `GET http://${web}/ HTTP/1.0\r\n${LOGIN}\r\n`,
  'POST with a length': `POST http://${web}/ HTTP/1.1\r\nHost: ${web}\r\n${LOGIN}Content-Length: 2\r\n\r\nhi`,
  'GET of a path': `GET / HTTP/1.1\r\nHost: ${web}\r\n${LOGIN}\r\n`,
  'GET of another scheme': `GET gopher://${web}/ HTTP/1.1\r\nHost: ${web}\r\n${LOGIN}\r\n`,
  'a request line of one word': `GET\r\n${LOGIN}\r\n`,
  'two lengths': `POST http://${web}/ HTTP/1.1\r\nHost: ${web}\r\n${LOGIN}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!`,
});

interface Difference {
  readonly ours: number;
  /** Any of these: it may depend on the resolver of the machine. */
  readonly theirs: readonly number[];
  readonly why: string;
}

const NO_WAY =
  'RFC 9110 §15.6.3 has 502 for a destination that cannot be reached; 500 would be a fault of the proxy';

const TINYPROXY: Readonly<Record<string, Difference>> = {
  'CONNECT with a wrong password': {
    ours: 407,
    theirs: [401],
    why: 'RFC 9110 §11.7.1: a proxy asks with 407; browsers ask their user again only then',
  },
  'CONNECT to a closed port': { ours: 502, theirs: [500], why: NO_WAY },
  'CONNECT to an unknown name': { ours: 502, theirs: [500], why: NO_WAY },
  'CONNECT without a port': {
    ours: 400,
    theirs: [500],
    why: 'RFC 9110 §9.3.6: the port must be there; the client is at fault',
  },
  'GET of another scheme': {
    ours: 501,
    theirs: [400],
    why: 'the request is well-formed (RFC 9110 §15.6.2): we do not implement the scheme',
  },
  'two lengths': {
    ours: 400,
    theirs: [200],
    why: 'RFC 9112 §6.3: the end of the body is open, by which a request could be smuggled',
  },
};

const SQUID: Readonly<Record<string, Difference>> = {
  'CONNECT to a closed port': {
    ours: 502,
    theirs: [503],
    why: 'RFC 9110 §15.6.4 has 503 for a proxy that is overloaded; the destination is at fault (502)',
  },
  'CONNECT to an unknown name': { ours: 502, theirs: [500, 503], why: NO_WAY },
  'CONNECT without a port': {
    ours: 400,
    theirs: [503],
    why: 'it takes port 443; RFC 9110 §9.3.6: the port must be there, so the client is at fault',
  },
  'two lengths': {
    ours: 400,
    theirs: [411],
    why: 'both refuse it; RFC 9112 §6.3 has 400, and 411 asks for a length that is there',
  },
};

describe('the same requests', () => {
  const scope = suiteScope();
  let ours = 0;
  let web = '';
  before(async () => {
    const server = createServer((_, response) => response.end('hello'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    scope.after(() => server.close());
    web = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    ours = await startOursForHttp(scope);
  });

  it('to tinyproxy get the same status, but for what is listed', needs('tinyproxy'), async (t) => {
    await compare(await startTinyproxy(t), TINYPROXY);
  });

  it('to squid get the same status, but for what is listed', needs('squid'), async (t) => {
    await compare(await startSquid(t), SQUID);
  });

  async function compare(theirs: number, differences: Readonly<Record<string, Difference>>): Promise<void> {
    for (const [name, text] of Object.entries(requests(web))) {
      const [mine, other] = await Promise.all([status(ours, text), status(theirs, text)]);
      const listed = differences[name];
      if (listed === undefined) assert.equal(other, mine, name);
      else assert.ok(listed.ours === mine && listed.theirs.includes(other), `${name}: ${mine} and ${other}`);
    }
  }
});

async function status(port: number, text: string): Promise<number> {
  const client = await RawClient.connect(port);
  client.send(text);
  const head = await readHead(client);
  client.destroy();
  return head.status;
}
