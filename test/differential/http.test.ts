// Sends the same requests to tinyproxy, squid and Pulsegate. Each difference of the status is listed here with its reason.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, it } from 'node:test';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { needs } from '../helpers/programs.js';
import { RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { startPulsegateForHttp, startSquid, startTinyproxy, USER } from './servers.js';

const LOGIN = `Proxy-Authorization: Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}\r\n`;
const WRONG = `Proxy-Authorization: Basic ${Buffer.from(`${USER.username}:wrong`).toString('base64')}\r\n`;

/** Returns the requests by name. `web` is the host and port of a server that answers `hello`. */
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
  /** The status from Pulsegate. */
  readonly pulsegate: number;
  /** The possible status from the other server, which may depend on the resolver of the machine. */
  readonly peer: readonly number[];
  readonly reason: string;
}

const BAD_GATEWAY =
  'RFC 9110 §15.6.3 has 502 for a destination that cannot be reached; 500 would be a fault of the proxy';

const TINYPROXY: Readonly<Record<string, Difference>> = {
  'CONNECT with a wrong password': {
    pulsegate: 407,
    peer: [401],
    reason: 'RFC 9110 §11.7.1: a proxy asks with 407; only then browsers ask for another password',
  },
  'CONNECT to a closed port': { pulsegate: 502, peer: [500], reason: BAD_GATEWAY },
  'CONNECT to an unknown name': { pulsegate: 502, peer: [500], reason: BAD_GATEWAY },
  'CONNECT without a port': {
    pulsegate: 400,
    peer: [500],
    reason: 'RFC 9110 §9.3.6: the port is required, so it is an error of the client',
  },
  'GET of another scheme': {
    pulsegate: 501,
    peer: [400],
    reason: 'the request is well-formed, but Pulsegate does not implement the scheme (RFC 9110 §15.6.2)',
  },
  'two lengths': {
    pulsegate: 400,
    peer: [200],
    reason: 'RFC 9112 §6.3: the end of the body is ambiguous, which allows request smuggling',
  },
};

const SQUID: Readonly<Record<string, Difference>> = {
  'CONNECT to a closed port': {
    pulsegate: 502,
    peer: [503],
    reason: 'RFC 9110 §15.6.4 has 503 for an overloaded proxy, and 502 for an unreachable destination',
  },
  'CONNECT to an unknown name': { pulsegate: 502, peer: [500, 503], reason: BAD_GATEWAY },
  'CONNECT without a port': {
    pulsegate: 400,
    peer: [503],
    reason: 'it uses port 443; RFC 9110 §9.3.6: the port is required, so it is an error of the client',
  },
  'two lengths': {
    pulsegate: 400,
    peer: [411],
    reason: 'both refuse it; RFC 9112 §6.3 has 400, and 411 means that there is no length',
  },
};

describe('a client that sends the same requests', () => {
  const scope = suiteScope();
  let pulsegatePort = 0;
  let web = '';
  before(async () => {
    const server = createServer((_, response) => response.end('hello'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    scope.after(() => server.close());
    web = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    pulsegatePort = await startPulsegateForHttp(scope);
  });

  it(
    'gets the same status from tinyproxy and Pulsegate, except for the listed differences',
    needs('tinyproxy'),
    async (t) => {
      await compare(await startTinyproxy(t), TINYPROXY);
    },
  );

  it(
    'gets the same status from squid and Pulsegate, except for the listed differences',
    needs('squid'),
    async (t) => {
      await compare(await startSquid(t), SQUID);
    },
  );

  async function compare(peerPort: number, differences: Readonly<Record<string, Difference>>): Promise<void> {
    for (const [name, text] of Object.entries(requests(web))) {
      const [pulsegate, peer] = await Promise.all([status(pulsegatePort, text), status(peerPort, text)]);
      const listed = differences[name];
      if (listed === undefined) assert.equal(peer, pulsegate, name);
      else
        assert.ok(
          listed.pulsegate === pulsegate && listed.peer.includes(peer),
          `${name}: ${pulsegate} and ${peer}`,
        );
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
