// The least that a UDP relay on node:dgram can be: no login, no rules, no counts. What ours is measured against.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Without it every datagram would wait for a look-up of what is an address already, which no fast relay does. */
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
      const inner = createSocket({ type: 'udp4', lookup });
      const outer = createSocket({ type: 'udp4', lookup });
      let clientPort = 0;
      let header = Buffer.alloc(0);
      inner.on('message', (datagram, from) => {
        clientPort = from.port;
        header = datagram.subarray(0, 10);
        const host = `${datagram[4]}.${datagram[5]}.${datagram[6]}.${datagram[7]}`;
        outer.send(datagram, 10, datagram.length - 10, datagram.readUInt16BE(8), host);
      });
      outer.on('message', (data) => inner.send([header, data], clientPort, '127.0.0.1'));
      control.once('close', () => {
        inner.close();
        outer.close();
      });
      inner.bind(0, '127.0.0.1', () => {
        const { port } = inner.address();
        control.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
      });
    });
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
