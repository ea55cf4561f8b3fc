// What a check of `pulsegate doctor` found.

/** `stop`: the daemon will not start or not work; `warn`: it will, but worse than it could. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'stop';
  readonly text: string;
}
