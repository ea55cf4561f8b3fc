// Listeners whose sockets are constructed without a detour of Node 20.
// net.Socket adds three options of its own to a copy of those it is given, and the V8 of Node 20 makes a hidden class
// anew for each property that is added to such a copy: about 15 µs a socket, of 150 that a bare connection costs with
// both of its sockets. Where the three are given to it, nothing is added. They change nothing else, and they must
// stand in an object literal without `...`, which is such a copy too.
import { createServer, type Server, Socket, type SocketConstructorOpts } from 'node:net';

/** The parts of net.Server and its handle that are used here. */
interface Internals {
  readonly _handle?: { onconnection?: (this: unknown, error: number, handle: unknown) => void } | null;
  _connections?: number;
}

type AcceptedSocket = Socket & { server?: Server; _server?: Server };

/** A listener for SOCKS clients, not listening yet. Its sockets have `allowHalfOpen` and no delay (RFC 1122 §4.2.3.4). */
export function createSocksListener(
  onConnection: (client: Socket) => void,
  v8 = process.versions.v8,
): Server {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  // Later versions of V8 make no such classes.
  if (v8.startsWith('11.')) server.once('listening', () => constructSockets(server));
  return server;
}

/** `server` constructs its sockets here instead of in net.Server, if it has the shape that it has in Node 20. */
function constructSockets(server: Server): void {
  const internals = server as unknown as Internals;
  const handle = internals._handle;
  const original = handle?.onconnection;
  if (!handle || !original || typeof internals._connections !== 'number') return;
  handle.onconnection = function (error, clientHandle) {
    if (error) return original.call(this, error, clientHandle);
    const options = {
      handle: clientHandle,
      allowHalfOpen: true,
      emitClose: false,
      autoDestroy: true,
      decodeStrings: false,
    };
    const socket = new Socket(options as SocketConstructorOpts) as AcceptedSocket;
    socket.setNoDelay(true);
    // What net.Server notes, so that `close()` knows when the last connection has ended.
    internals._connections = (internals._connections ?? 0) + 1;
    socket.server = server;
    socket._server = server;
    server.emit('connection', socket);
  };
}
