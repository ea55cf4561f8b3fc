// A finding of `pulsegate doctor`.

/** `stop`: the daemon cannot start or work. `warn`: it works with reduced safety or speed. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'stop';
  readonly text: string;
}
