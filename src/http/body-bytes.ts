// Reading the bytes of a request body, for everything that takes one: koa-bodyparser reads them within a limit and hands
// them over undecoded ('binary' is one character a byte), because its own decoding would turn invalid UTF-8 into other
// characters without a word.
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';

/** The body's bytes; or that there are more than the limit; or that the body ended before it was complete. */
export type BodyBytes = Buffer | 'too-large' | 'cut-short';

/**
 * Makes the reader of bodies of at most `maxBytes`. Whoever calls it has judged Content-Type and Content-Encoding by its
 * own rules: the body is read whatever they say.
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
    if (Number(ctx.req.headers['content-length'] ?? 0) > maxBytes) return 'too-large';
    // The reader goes by these two alone.
    ctx.req.headers['content-type'] = 'application/octet-stream';
    delete ctx.req.headers['content-encoding'];
    try {
      await read(ctx, async () => {});
    } catch (err) {
      // What is still on its way is let past, so that the answer can be received.
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
