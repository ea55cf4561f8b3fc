// Reads the bytes of a request body within a limit. koa-bodyparser returns them undecoded ('binary' is one character per
// byte), because its own decoding silently replaces invalid UTF-8.
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';

/** The body's bytes; `too-large`: there are more than the limit; `cut-short`: the body ended before it was complete. */
export type BodyBytes = Buffer | 'too-large' | 'cut-short';

/** Whether a request has a body, by its head (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || declaredBytes(headers) > 0;
}

/** The `Content-Length`; 0 without one. */
export function declaredBytes(headers: IncomingMessage['headers']): number {
  return Number(headers['content-length'] ?? 0);
}

/**
 * Makes the reader of bodies of at most `maxBytes`. The caller checks Content-Type and Content-Encoding itself: the reader ignores
 * them.
 */
export function createBytesReader(maxBytes: number): (ctx: Context) => Promise<BodyBytes> {
  const options: bodyParser.Options & { encoding: string } = {
    enableTypes: ['text'],
    extendTypes: { text: ['application/octet-stream'] },
    textLimit: `${maxBytes}b`,
    encoding: 'binary',
  };
  const read: Middleware = bodyParser(options);
  return async (ctx) => {
    if (declaredBytes(ctx.req.headers) > maxBytes) return 'too-large';
    // koa-bodyparser decides by these two headers.
    ctx.req.headers['content-type'] = 'application/octet-stream';
    delete ctx.req.headers['content-encoding'];
    try {
      await read(ctx, async () => {});
    } catch (err) {
      // Discard the rest of the body, so that the client can receive the answer.
      ctx.req.resume();
      return typeOf(err) === 'entity.too.large' ? 'too-large' : 'cut-short';
    }
    const raw: unknown = ctx.request.rawBody;
    return Buffer.from(typeof raw === 'string' ? raw : '', 'binary');
  };
}

/** raw-body's errors carry the kind of failure in `type`. */
function typeOf(err: unknown): unknown {
  return err instanceof Error && 'type' in err ? err.type : undefined;
}
