// The lower bound for a UDP relay on node:dgram: no login, no rules, no counts. The benchmark compares the daemon's relay with it.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Without it Node would resolve the destination of every datagram, although it is an address already. */
const lookup = (
  host: string,
  family: number | object,
  done: (error: null, host: string, family: number) => void,
) => done(null, host, Number(family));

const server = createServer((control) => {
  control.on('error', () => {});
  control.once('data', () => {
    control.write(Buffer.from([5, 0]));
    control.once('data', () => {
      const clientSocket = createSocket({ type: 'udp4', lookup });
      const destinationSocket = createSocket({ type: 'udp4', lookup });
      let clientPort = 0;
      let header = Buffer.alloc(0);
      clientSocket.on('message', (datagram, from) => {
        clientPort = from.port;
        header = datagram.subarray(0, 10);
        const host = `${datagram[4]}.${datagram[5]}.${datagram[6]}.${datagram[7]}`;
        destinationSocket.send(datagram, 10, datagram.length - 10, datagram.readUInt16BE(8), host);
      });
      destinationSocket.on('message', (data) => clientSocket.send([header, data], clientPort, '127.0.0.1'));
      control.once('close', () => {
        clientSocket.close();
        destinationSocket.close();
      });
      clientSocket.bind(0, '127.0.0.1', () => {
        const { port } = clientSocket.address();
        control.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
      });
    });
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
