// TLS on a native stream: the connection goes to the thread of TLS clients, and the relay gets one end of a socket pair, so that it
// stays native. The first line through it says how the handshake went.
import type { ProxyTls } from '../../../core/exits/exit.js';
import type { SecureRequest } from '../../messages.js';
import type { Attempt, ConnectListener, StreamListener } from '../io.js';
import * as c from './libc.js';
import type { Loop } from './loop.js';
import { NativeStream } from './stream.js';

export const SECURED = 'ok';

export class Securing implements Attempt, StreamListener {
  #stream: NativeStream | null = null;
  #received = '';
  #isCancelled = false;

  /** @param send gives the descriptors to the thread */
  constructor(
    loop: Loop,
    stream: NativeStream,
    tls: ProxyTls,
    private readonly listener: ConnectListener,
    send: (request: SecureRequest) => void,
  ) {
    const ends = new Int32Array(2);
    if (loop.libc.streamPair(ends) !== 0) {
      const code = c.codeOf(loop.libc.errno());
      stream.close();
      loop.later({ run: () => this.#isCancelled || listener.onFailed(code) });
      return;
    }
    const [near = -1, inside = -1] = ends;
    const { peer, local } = stream;
    send({ outside: stream.detach(), inside, tls });
    loop.own(near);
    this.#stream = new NativeStream(loop, near, peer, local);
    this.#stream.register();
    this.#stream.listener = this;
    this.#stream.resume();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#stream?.close();
    this.#stream = null;
  }

  onData(chunk: Buffer): void {
    this.#received += chunk.toString('latin1');
    const stream = this.#stream;
    const [answer = '', after] = this.#received.split('\n', 2);
    if (stream === null || after === undefined) return;
    if (answer !== SECURED) return this.onFailed(answer);
    // A proxy answers requests: one that speaks before the first is another kind of server.
    if (after !== '') return this.onFailed('speaks-first');
    this.#stream = null;
    stream.pause();
    this.listener.onConnected(stream);
  }

  onEnd(): void {
    this.onFailed('closed');
  }

  onFailed(code: string): void {
    if (this.#stream === null) return;
    this.cancel();
    this.listener.onFailed(code);
  }
}
