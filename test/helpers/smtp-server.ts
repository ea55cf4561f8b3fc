// An SMTP server that accepts and stores every message of an authenticated client.
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Scope } from './suite.js';

export interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  /** Headers, an empty line, and the text. */
  readonly content: string;
}

export async function startSmtpServer(
  t: Scope,
  { user, password }: { readonly user: string; readonly password: string },
) {
  const received: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const login = Buffer.from(`\0${user}\0${password}`).toString('base64');
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    const reply = (line: string) => socket.write(`${line}\r\n`);
    let [from, to, isAuthenticated] = ['', '', false];
    let content: string[] | null = null;
    reply('220 test');
    const lines = createInterface({ input: socket });
    // A client that is killed resets its connection.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      if (content) {
        if (line !== '.') return void content.push(line);
        received.push({ from, to, content: content.join('\n') });
        content = null;
        return reply(`250 2.0.0 taken as ${received.length}`);
      }
      const [verb = '', rest = ''] = line.split(/ (.*)/s);
      switch (verb.toUpperCase()) {
        case 'EHLO':
          reply('250-test');
          return reply('250 AUTH PLAIN');
        case 'AUTH':
          isAuthenticated = rest === `PLAIN ${login}`;
          return reply(isAuthenticated ? '235 2.7.0 welcome' : '535 5.7.8 who are you');
        case 'MAIL':
          from = rest;
          return reply(isAuthenticated ? '250 ok' : '530 5.7.0 log in');
        case 'RCPT':
          to = rest.replace(/^TO:<(.*)>.*$/i, '$1');
          return reply('250 ok');
        case 'DATA':
          content = [];
          return reply('354 go on');
        case 'QUIT':
          reply('221 bye');
          return socket.end();
        default:
          return reply('250 ok');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}
