// A finding of `pulsegate doctor`.

/** `stop`: the daemon cannot start or work. `warn`: it works with reduced safety or speed. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'stop';
  readonly text: string;
}

/** What a check has found; it has the name of the check unless it gives another one. */
export type Found = Pick<Finding, 'state' | 'text'> & { readonly check?: string };

export const ok = (text: string): Found => ({ state: 'ok', text });
export const warn = (text: string): Found => ({ state: 'warn', text });
export const stop = (text: string): Found => ({ state: 'stop', text });
