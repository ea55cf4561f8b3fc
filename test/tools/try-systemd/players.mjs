// Players of a proxy on this machine, and the servers that they play on: each counts what it sends and receives, and notices every
// end, refusal and pause. Needs Node alone.
import { createHash, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const ECHO_MS = 20;
const LOGIN_MS = 50;
const DATAGRAM_MS = 50;
const CHUNK_MS = 50;
const CHUNK_BYTES = 32 * 1024;
/** Every fifth bulk flow reads nothing for this time, again and again: its bytes wait in the proxy. */
const UNREAD_MS = 300;
/** A login that takes longer counts as refused. */
const LOGIN_LIMIT_MS = 20_000;
const OPENED_AT_ONCE = 40;
const MESSAGE_BYTES = 32;
const NOISE = randomBytes(CHUNK_BYTES * 64);

/** What all players have seen so far. */
const createSeen = () => ({
  ended: [],
  refused: [],
  wrong: [],
  longestPauseMs: 0,
  slowestLoginMs: 0,
  logins: 0,
});

/**
 * @param proxy port of the players' listener
 * @param counts players of each kind: `echo`, `bulk`, `udp`, `idle`
 * @param accounts user name and password of each kind, and of `login`
 */
export async function startPlayers({ proxy, counts, accounts }) {
  const seen = createSeen();
  const servers = await startServers();
  const world = { proxy, accounts, seen, servers, isOver: false };
  const players = [];
  const kinds = { idle: startIdle, echo: startEcho, bulk: startBulk, udp: startDatagrams };
  for (const [kind, start] of Object.entries(kinds)) {
    for (let from = 0; from < counts[kind]; from += OPENED_AT_ONCE) {
      const size = Math.min(OPENED_AT_ONCE, counts[kind] - from);
      const opened = Array.from({ length: size }, (_, i) => start(world, from + i));
      players.push(...(await Promise.all(opened)));
    }
  }
  const logins = startLogins(world);
  return {
    seen,
    players,
    /** The longest time of one message since the last call, in ms. */
    takePauseMs() {
      const { longestPauseMs } = seen;
      seen.longestPauseMs = 0;
      return longestPauseMs;
    },
    /** Sends nothing more, and waits until everything that was sent has arrived. */
    async settle() {
      world.isOver = true;
      await logins.ended;
      await Promise.all(players.map((player) => player.settle()));
    },
    /** Bytes of all logins together, each way. */
    loginBytes: () => logins.bytes(),
    end() {
      for (const player of players) player.end();
      servers.close();
    },
  };
}

// ── Servers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

async function startServers() {
  /** Bulk flows of the server's side, by the port of the proxy's connection. */
  const flows = new Map();
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).pipe(socket);
  });
  const bulk = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (first) => {
      // The client's first four bytes name its flow.
      const flow = flows.get(first.readUInt32BE());
      flow.serve(socket, first.subarray(4));
    });
  });
  const datagrams = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  const counted = { bytes: 0 };
  datagrams.on('message', (message, from) => {
    counted.bytes += message.length;
    datagrams.send(message, from.port, from.address);
  });
  datagrams.bind(0, '127.0.0.1');
  for (const server of [echo, bulk]) server.listen(0, '127.0.0.1');
  await Promise.all([echo, bulk, datagrams].map((server) => once(server, 'listening')));
  return {
    echo: echo.address().port,
    bulk: bulk.address().port,
    datagrams: datagrams.address().port,
    flows,
    /** What the server of datagrams has received. */
    datagramBytes: () => counted.bytes,
    close() {
      for (const server of [echo, bulk, datagrams]) server.close();
    },
  };
}

// ── SOCKS5 ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Logs in, and sends the request (RFC 1928, RFC 1929). Resolves with the connection, and the bound port of the reply. */
async function request(proxy, { username, password }, command, port) {
  const socket = connect({ port: proxy, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  const login = Buffer.concat([
    Buffer.from([5, 1, 2, 1, username.length]),
    Buffer.from(username),
    Buffer.from([password.length]),
    Buffer.from(password),
  ]);
  const head = Buffer.from([5, command, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
  socket.write(Buffer.concat([login, head]));
  const answer = await readExactly(socket, 2 + 2 + 10);
  if (answer[1] !== 2 || answer[3] !== 0 || answer[5] !== 0)
    throw new Error(`answer ${answer.toString('hex')}`);
  return { socket, bound: answer.readUInt16BE(12) };
}

function readExactly(socket, size) {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const limit = setTimeout(() => over(new Error('timeout')), LOGIN_LIMIT_MS);
    const over = (error) => {
      clearTimeout(limit);
      socket.off('data', read).off('close', closed).off('error', over);
      if (error) {
        socket.destroy();
        reject(error);
      } else resolve(got);
    };
    const closed = () => over(new Error('closed'));
    const read = (chunk) => {
      got = Buffer.concat([got, chunk]);
      if (got.length < size) return;
      socket.pause();
      if (got.length > size) socket.unshift(got.subarray(size));
      got = got.subarray(0, size);
      over();
    };
    socket.on('data', read).on('close', closed).on('error', over);
    socket.resume();
  });
}

// ── Players ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The part that all players have. `up` and `down` are what passed through the session. */
async function open(world, kind, index, port, command = 1) {
  const { socket, bound } = await request(world.proxy, world.accounts[kind], command, port);
  const player = {
    kind,
    name: `${kind} ${index}`,
    port: socket.localPort,
    bound,
    socket,
    up: 0,
    down: 0,
    isEnding: false,
    settle: async () => {},
    end() {
      player.isEnding = true;
      socket.destroy();
    },
  };
  socket.on('close', () => {
    if (!player.isEnding) world.seen.ended.push(player.name);
  });
  return player;
}

/** Waits until `isTrue`, for 60 s. */
async function until(isTrue) {
  for (let i = 0; i < 3_000 && !isTrue(); i += 1) await pause(20);
  return isTrue();
}

/** Sends messages of its own, and expects each of them back. */
function echoing(world, player) {
  const sentAt = [];
  let returned = Buffer.alloc(0);
  let sent = 0;
  let received = 0;
  player.socket.on('data', (chunk) => {
    player.down += chunk.length;
    returned = Buffer.concat([returned, chunk]);
    for (; returned.length >= MESSAGE_BYTES; returned = returned.subarray(MESSAGE_BYTES)) {
      if (returned.readUInt32BE() !== received) world.seen.wrong.push(`${player.name}: message ${received}`);
      received += 1;
      world.seen.longestPauseMs = Math.max(world.seen.longestPauseMs, performance.now() - sentAt.shift());
    }
  });
  player.socket.resume();
  player.send = () => {
    const message = Buffer.alloc(MESSAGE_BYTES);
    message.writeUInt32BE(sent);
    sent += 1;
    sentAt.push(performance.now());
    player.up += MESSAGE_BYTES;
    player.socket.write(message);
  };
  player.settle = async () => {
    if (!(await until(() => received === sent)))
      world.seen.wrong.push(`${player.name}: ${received} of ${sent}`);
  };
}

async function startIdle(world, index) {
  const player = await open(world, 'idle', index, world.servers.echo);
  echoing(world, player);
  const { settle } = player;
  // It says one word, at the end.
  player.settle = () => {
    player.send();
    return settle();
  };
  return player;
}

async function startEcho(world, index) {
  const player = await open(world, 'echo', index, world.servers.echo);
  echoing(world, player);
  const timer = setInterval(() => (world.isOver ? clearInterval(timer) : player.send()), ECHO_MS);
  return player;
}

/** One direction of a bulk flow: what was sent, and what arrived. */
const createDirection = () => ({
  sent: createHash('sha256'),
  arrived: createHash('sha256'),
  sentBytes: 0,
  arrivedBytes: 0,
});

function sendChunks(world, socket, direction, onSent) {
  let at = 0;
  const timer = setInterval(() => {
    if (world.isOver) return clearInterval(timer);
    if (socket.writableNeedDrain) return;
    const chunk = NOISE.subarray(at, at + CHUNK_BYTES);
    at = (at + CHUNK_BYTES) % NOISE.length;
    direction.sent.update(chunk);
    direction.sentBytes += chunk.length;
    onSent?.(chunk.length);
    socket.write(chunk);
  }, CHUNK_MS);
}

function receiveChunks(socket, direction, onReceived) {
  socket.on('data', (chunk) => {
    direction.arrived.update(chunk);
    direction.arrivedBytes += chunk.length;
    onReceived?.(chunk.length);
  });
}

async function startBulk(world, index) {
  const [up, down] = [createDirection(), createDirection()];
  const served = new Promise((resolve) => {
    world.servers.flows.set(index, {
      serve(socket, rest) {
        receiveChunks(socket, up);
        if (rest.length > 0) socket.emit('data', rest);
        sendChunks(world, socket, down);
        resolve();
      },
    });
  });
  const player = await open(world, 'bulk', index, world.servers.bulk);
  const { socket } = player;
  const number = Buffer.alloc(4);
  number.writeUInt32BE(index);
  player.up += number.length;
  socket.write(number);
  await served;
  sendChunks(world, socket, up, (bytes) => {
    player.up += bytes;
  });
  receiveChunks(socket, down, (bytes) => {
    player.down += bytes;
  });
  socket.resume();
  const reading = setInterval(() => {
    if (index % 5 === 0 && !world.isOver && !socket.isPaused()) socket.pause();
    else socket.resume();
  }, UNREAD_MS);
  player.settle = async () => {
    clearInterval(reading);
    socket.resume();
    await until(() => up.arrivedBytes === up.sentBytes && down.arrivedBytes === down.sentBytes);
    for (const [name, { sent, arrived }] of Object.entries({ up, down }))
      if (sent.digest('hex') !== arrived.digest('hex'))
        world.seen.wrong.push(`${player.name}: checksum ${name}`);
  };
  return player;
}

/** RFC 1928 §7: the datagrams of an association have the destination in front. */
const HEADER_BYTES = 10;

async function startDatagrams(world, index) {
  const player = await open(world, 'udp', index, 0, 3);
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (message) => {
    player.down += message.length - HEADER_BYTES;
  });
  const port = world.servers.datagrams;
  const header = Buffer.from([0, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
  const datagram = Buffer.concat([header, NOISE.subarray(0, 100 + (index % 50))]);
  const timer = setInterval(() => {
    if (world.isOver) return clearInterval(timer);
    player.up += datagram.length - HEADER_BYTES;
    socket.send(datagram, player.bound, '127.0.0.1');
  }, DATAGRAM_MS);
  const { end } = player;
  player.end = () => {
    socket.close();
    end();
  };
  player.settle = async () => {
    if (!(await until(() => player.down === player.up)))
      world.seen.wrong.push(`${player.name}: bytes ${player.up}, back ${player.down}`);
  };
  return player;
}

/** New players all the time: each logs in, sends one message, gets it back, and leaves. */
function startLogins(world) {
  const { seen, servers, accounts } = world;
  const counted = { up: 0, down: 0 };
  const running = new Set();
  async function login() {
    const startedAt = performance.now();
    try {
      const { socket } = await request(world.proxy, accounts.login, 1, servers.echo);
      const message = NOISE.subarray(0, MESSAGE_BYTES);
      socket.write(message);
      counted.up += MESSAGE_BYTES;
      const answer = await readExactly(socket, MESSAGE_BYTES);
      counted.down += answer.length;
      if (!answer.equals(message)) seen.wrong.push(`login ${seen.logins}`);
      socket.end();
      socket.resume();
      seen.logins += 1;
      seen.slowestLoginMs = Math.max(seen.slowestLoginMs, performance.now() - startedAt);
    } catch (error) {
      seen.refused.push(`${new Date().toISOString()} ${error.code ?? error.message}`);
    }
  }
  const ended = (async () => {
    while (!world.isOver) {
      const one = login().then(() => running.delete(one));
      running.add(one);
      await pause(LOGIN_MS);
    }
    await Promise.all(running);
  })();
  return { ended, bytes: () => counted };
}
