// `pulsegate doctor`: checks names, IPv6, and the limits of the system for connections.
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.js';
import { hasGlobalIpv6 } from '../../parts/geo.js';
import type { Finding } from './finding.js';

/** Errors that mean that no server answered. NXDOMAIN is not one: it is an answer. */
const NO_ANSWER = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EREFUSED', 'ESERVFAIL', 'EBADRESP']);

export async function checkDns({ dns }: Config): Promise<Finding> {
  const check = 'dns';
  const resolver = new Resolver({ timeout: Math.min(dns.timeoutMs, 3000), tries: 1 });
  if (dns.servers.length > 0) resolver.setServers(dns.servers);
  const servers = resolver.getServers().join(', ') || 'none';
  const startedAt = performance.now();
  const failure = await resolver.resolve4('example.com').then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (failure && NO_ANSWER.has(failure)) {
    return {
      check,
      state: 'warn',
      text: `${servers}: no answer (${failure}); host names cannot be resolved; set dns.servers`,
    };
  }
  return {
    check,
    state: 'ok',
    text: `${servers} answers in ${Math.round(performance.now() - startedAt)} ms`,
  };
}

export function checkIpv6(): Finding {
  const check = 'ipv6';
  if (hasGlobalIpv6()) return { check, state: 'ok', text: 'this machine has a global IPv6 address' };
  return {
    check,
    state: 'warn',
    text: 'no global IPv6 address: IPv6 destinations are not reachable',
  };
}

const ENOUGH_PORTS = 10_000;

export async function checkLocalPorts(): Promise<Finding[]> {
  const [first, last] = await readNumbers('/proc/sys/net/ipv4/ip_local_port_range');
  if (first === undefined || last === undefined) return [];
  const count = last - first + 1;
  const text = `${count} local ports for connections to one destination (${first} to ${last})`;
  if (count >= ENOUGH_PORTS) return [{ check: 'local ports', state: 'ok', text }];
  return [
    {
      check: 'local ports',
      state: 'warn',
      text: `${text}; run sysctl -w net.ipv4.ip_local_port_range="10240 65535"`,
    },
  ];
}

const CONNTRACK_FULL = 0.8;

export async function checkConntrack(): Promise<Finding[]> {
  const [most] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_max');
  const [used] = await readNumbers('/proc/sys/net/netfilter/nf_conntrack_count');
  if (most === undefined || used === undefined) return [];
  const text = `${used} of ${most} connections tracked`;
  if (used < most * CONNTRACK_FULL) return [{ check: 'conntrack', state: 'ok', text }];
  return [
    {
      check: 'conntrack',
      state: 'warn',
      text: `${text}; a full table drops packets: raise net.netfilter.nf_conntrack_max`,
    },
  ];
}

async function readNumbers(file: string): Promise<number[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split(/\s+/).filter(Boolean).map(Number);
}
