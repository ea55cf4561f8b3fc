// Whether somebody still waits for the answer to the request in whose handler a function is called.
import { AsyncLocalStorage } from 'node:async_hooks';

/** A request whose handler runs. */
interface PendingRequest {
  /** Whether its client closed the connection before the answer. */
  isAbandoned: boolean;
}

const pending = new AsyncLocalStorage<PendingRequest>();

export const handleFor = <Result>(request: PendingRequest, handle: () => Result): Result =>
  pending.run(request, handle);

/** True outside of requests too. */
export const hasCaller = (): boolean => pending.getStore()?.isAbandoned !== true;
