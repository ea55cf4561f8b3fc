// Time as a parameter: rules never read the clock themselves, so tests can move it.

/** Returns the present moment in milliseconds since the Unix epoch (UTC). */
export type Clock = () => number;
