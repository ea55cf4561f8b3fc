// /api/v1/nodes: lists and drains the daemons that share the database.
import { z } from 'zod';
import { auditRecord } from '../../core/audit/audit.js';
import type { FleetNode } from '../../core/nodes/nodes.js';
import { withTimes } from '../../core/time/clock.js';
import { failure, type ProblemAnswer } from '../api/problem.js';
import { type Answered, DONE, routesOf } from '../api/route.js';
import { BytesPerSecond, Count, component, listOf, Time } from '../api/schemas.js';
import { actorOf, type Caller } from '../caller.js';
import type { Services } from '../services.js';

const Node = component('Node', {
  name: z.string(),
  /** Whether this node sent the answer. */
  isThis: z.boolean(),
  state: z.enum(['serving', 'draining', 'drained', 'lost', 'stopped']).meta({
    description:
      'draining: accepts no new connections and still has sessions; lost: has not renewed its lease; stopped: shut down normally.',
  }),
  /** Whether an operator drained the node. It stays drained after a restart. */
  isDrained: z.boolean(),
  version: z.string(),
  addresses: z.object({ socks: z.array(z.string()), admin: z.array(z.string()) }),
  sessions: Count,
  accountsOnline: Count,
  bytesPerSecondUp: BytesPerSecond,
  bytesPerSecondDown: BytesPerSecond,
  /** Per cent of one core. */
  cpuPercent: z.number().min(0),
  /** Time that the database took to answer the last renewal. */
  databaseDelayMs: z.number().min(0).nullable(),
  startedAt: Time,
  /** Time of the node's last renewal. */
  renewedAt: Time,
  leaseLeftMs: Count,
});

const NodeParams = z.object({ name: z.string().min(1).max(253) });

const { route } = routesOf('Nodes');

export const nodeRoutes = [
  route('GET /api/v1/nodes', 'listNodes', 'settings:read', {
    summary: 'The daemons that share the database. Nodes that have not run for seven days are omitted.',
    success: [200, 'All of them, by name.', listOf(Node, 'Nodes')],
    async handle(_input, { nodes, node }) {
      const items = (await nodes.list()).map((each) => presentNode(each, node.nodeName));
      return { body: { items } };
    },
  }),
  route('POST /api/v1/nodes/{name}/drain', 'drainNode', 'settings:write', {
    summary:
      'Takes a node out of service: /readyz returns 503 within a second, new connections are refused one lease later, live sessions continue.',
    request: { params: NodeParams },
    success: [204, 'Drained, until it is undrained.'],
    handle: ({ params, caller }, deps) => drain(params.name, true, caller, deps),
  }),
  route('POST /api/v1/nodes/{name}/undrain', 'undrainNode', 'settings:write', {
    summary: 'Lets a node accept connections again.',
    request: { params: NodeParams },
    success: [204, 'The node accepts connections within a second.'],
    handle: ({ params, caller }, deps) => drain(params.name, false, caller, deps),
  }),
];

async function drain(
  name: string,
  isDrained: boolean,
  caller: Caller,
  { nodes, node, onSettingChanged }: Services,
): Promise<Answered | ProblemAnswer> {
  const action = isDrained ? 'node.drain' : 'node.undrain';
  const audit = auditRecord(actorOf(caller), action, { type: 'node', id: null, name });
  if (!(await nodes.setDrained(name, isDrained, audit))) return failure('not-found', 'no-node');
  // The other nodes read the change from the database.
  if (name === node.nodeName) await node.reload();
  onSettingChanged();
  return DONE;
}

function presentNode({ load, addresses: { socks, admin }, ...node }: FleetNode, thisNode: string) {
  return {
    ...withTimes(node, 'startedAt', 'renewedAt'),
    ...load,
    addresses: { socks, admin },
    isThis: node.name === thisNode,
  };
}
