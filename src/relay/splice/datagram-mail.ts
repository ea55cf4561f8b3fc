// What the main thread and a worker write to each other about UDP associations: rare, so whole messages.

/** Associations that one worker can hold. */
export const ASSOCIATIONS = 8192;
/** Uncovered datagrams of one association, and of all, that may wait for the main thread; more are lost. */
export const MOST_WAITING = 64;
export const MOST_WAITING_IN_ALL = 1024;

/** Numbers of an association that the worker counts, in this order. */
export const COUNTS = ['bytesUp', 'bytesDown', 'datagramsUp', 'datagramsDown', 'unsendable'] as const;

interface Addressed {
  readonly slot: number;
  readonly generation: number;
}

export interface RouteMail {
  readonly key: number | string;
  readonly headerLength: number;
  readonly to: Uint32Array;
}

export interface SourceMail {
  readonly from: Uint32Array;
  readonly header: Uint8Array;
}

/** Main thread to worker. Addresses are sockaddrs. */
export type DatagramOrder = Addressed &
  (
    | {
        readonly kind: 'take';
        readonly inner: number;
        readonly outer4: number;
        readonly outer6: number;
        readonly client: Uint32Array;
        readonly routes: readonly RouteMail[];
        readonly sources: readonly SourceMail[];
      }
    | { readonly kind: 'outer'; readonly isIpv6: boolean; readonly fd: number }
    | { readonly kind: 'client'; readonly client: Uint32Array }
    | ({ readonly kind: 'route' } & RouteMail)
    | { readonly kind: 'remove-route'; readonly key: number | string }
    | ({ readonly kind: 'source' } & SourceMail)
    | { readonly kind: 'remove-source'; readonly from: Uint32Array }
    | { readonly kind: 'watch'; readonly watch: boolean }
    | { readonly kind: 'release' }
  );

/** Worker to main thread. After 'released' it touches none of the descriptors again. */
export type DatagramNote = Addressed &
  (
    | { readonly kind: 'released' }
    | {
        readonly kind: 'uncovered';
        readonly side: 'client' | 'outside';
        readonly data: Uint8Array;
        readonly from: Uint32Array;
        /** A fragment: the worker covers nothing from this client until it is told to. */
        readonly isWatched: boolean;
      }
  );
