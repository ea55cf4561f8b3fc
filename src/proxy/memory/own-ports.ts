// Ports that this process has open, counted in memory that all threads share: which destinations are ourselves, and
// which local clients are ourselves. Counted, because a port number may be open at several addresses at once. Each thread
// counts in a part of its own, so that the counts of one that has died can be dropped.

const PORTS = 65_536;

/** What a port is open for. */
export type PortUse =
  /** A TCP listener: players', the admin API's, of a BIND. */
  | 'tcp-listener'
  /** The local end of a TCP connection that we have opened to a destination. */
  | 'tcp-outbound'
  /** The side of a UDP association that its client sends to. */
  | 'udp-client-side'
  /** The side of a UDP association that destinations see. */
  | 'udp-outside';

const USES: readonly PortUse[] = ['tcp-listener', 'tcp-outbound', 'udp-client-side', 'udp-outside'];
const PART = USES.length * PORTS;

export type OwnPorts = ReturnType<typeof createOwnPorts>;

/** Memory for the control plane (part 0) and `workers` workers. */
export function allocateOwnPorts(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((workers + 1) * PART * Int32Array.BYTES_PER_ELEMENT);
}

/** @param part in which this thread counts */
export function createOwnPorts(memory: SharedArrayBuffer, part: number) {
  const counts = new Int32Array(memory);
  const indexOf = (use: PortUse, port: number): number => USES.indexOf(use) * PORTS + (port & (PORTS - 1));
  return {
    add: (use: PortUse, port: number): void => void Atomics.add(counts, part * PART + indexOf(use, port), 1),
    remove: (use: PortUse, port: number): void =>
      void Atomics.sub(counts, part * PART + indexOf(use, port), 1),
    /** Whether any thread has it open. */
    has(use: PortUse, port: number): boolean {
      for (let at = indexOf(use, port); at < counts.length; at += PART) {
        if (Atomics.load(counts, at) > 0) return true;
      }
      return false;
    },
    /** Drops the counts of a part whose thread has died. */
    clear: (cleared: number): void => void counts.fill(0, cleared * PART, (cleared + 1) * PART),
  };
}
