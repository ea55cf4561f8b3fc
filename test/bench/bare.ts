// The lower bound for a SOCKS5 server on Node: it reads the same bytes and checks nothing. CONNECT and UDP ASSOCIATE to
// IPv4 addresses on loopback only, each step in one packet; `a.pipe(b).pipe(a)`, and one datagram at a time.
import { createSocket } from 'node:dgram';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const METHOD_CHOSEN = Buffer.from([5, 2]);
const LOGGED_IN = Buffer.from([1, 0]);
const HEADER_BYTES = 10;

createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  client.on('error', () => {});
  client.once('data', () => {
    client.write(METHOD_CHOSEN);
    client.once('data', () => {
      client.write(LOGGED_IN);
      client.once('data', (request: Buffer) => {
        client.pause();
        if (request[1] === 3) associate(client);
        else relay(client, request);
      });
    });
  });
}).listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 });

function relay(client: Socket, request: Buffer): void {
  const destination = connect({
    host: request.subarray(4, 8).join('.'),
    port: request.readUInt16BE(8),
    allowHalfOpen: true,
    noDelay: true,
  });
  destination.on('error', () => client.destroy());
  client.on('close', () => destination.destroy());
  destination.on('connect', () => {
    client.write(reply(destination.localPort ?? 0));
    client.pipe(destination).pipe(client);
  });
}

function associate(client: Socket): void {
  const clientSocket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  const destinationSocket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  let playerAddress: AddressInfo | null = null;
  let header: Buffer | null = null;
  clientSocket.on('message', (message, { address, port }) => {
    playerAddress ??= { address, port, family: 'IPv4' };
    header ??= Buffer.from(message.subarray(0, HEADER_BYTES));
    destinationSocket.send(
      message,
      HEADER_BYTES,
      message.length - HEADER_BYTES,
      message.readUInt16BE(8),
      '127.0.0.1',
    );
  });
  destinationSocket.on('message', (message) => {
    if (playerAddress && header)
      clientSocket.send([header, message], playerAddress.port, playerAddress.address);
  });
  destinationSocket.bind(0, '127.0.0.1');
  clientSocket.bind(0, '127.0.0.1', () => client.write(reply(clientSocket.address().port)));
  client.resume().on('close', () => {
    clientSocket.close();
    destinationSocket.close();
  });
}

function reply(port: number): Buffer {
  return Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
}
