// A DNS server on loopback with configurable responses, for tests of resolution, rebinding and slow names.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode } from 'dns-packet';
import type { Scope } from './suite.js';

/** Returns the addresses of a name; 'silence': no answer; undefined: NXDOMAIN. `query` counts from 1, per name and family. */
export type Zone = (name: string, family: 4 | 6, query: number) => readonly string[] | 'silence' | undefined;

export interface NameServer {
  /** `127.0.0.1:port`, in the form of `dns.servers`. */
  readonly address: string;
  /** The questions so far, as `A name` and `AAAA name`. */
  readonly questions: string[];
}

/** Starts a server that answers from `zone` with this TTL, in seconds, until the test ends. */
export async function startNameServer(t: Scope, zone: Zone, ttl = 0): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (bytes, from) => {
    const query = decode(bytes);
    const question = query.questions?.[0];
    if (!question) return;
    const family = question.type === 'AAAA' ? 6 : 4;
    const name = question.name.toLowerCase();
    const asked = `${question.type} ${name}`;
    questions.push(asked);
    const found = zone(name, family, questions.filter((each) => each === asked).length);
    if (found === 'silence') return;
    const answers: Answer[] = (found ?? []).map((data) => ({
      type: family === 6 ? 'AAAA' : 'A',
      name: question.name,
      ttl,
      data,
    }));
    const rcode = found === undefined ? 3 : 0; // RFC 1035 §4.1.1: 3 is Name Error
    socket.send(
      encode({ type: 'response', id: query.id ?? 0, flags: 0x0180 | rcode, questions: [question], answers }),
      from.port,
      from.address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}
