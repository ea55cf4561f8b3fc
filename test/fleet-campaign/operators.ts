// Changes through the API behind haproxy. A change that was answered 200 must be stored, and every node must know it soon.
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN } from '../helpers/daemon.js';
import { basic, type HttpAnswer, send } from '../helpers/http.js';
import { type Ledger, nameOfError } from './ledger.js';
import type { Node, Servers } from './servers.js';

export interface Operator {
  /** User names of the accounts whose creation was answered 200. */
  readonly created: string[];
  /** The account that the campaign changes repeatedly, with the number of the last change that was answered 200. */
  readonly marked: { id: string; username: string; acknowledged: number };
}

const headers = {
  authorization: basic(ADMIN.username, ADMIN.password),
  'content-type': 'application/json',
};
const BETWEEN_MS = 200;
const POLL_MS = 20;
/** Time without a fault after which a node that does not know a change has missed it. */
const MISSED_MS = 120_000;
/**
 * The promised time is one second, and the campaign prints the measured one. More than this bound is a failure even on a busy
 * machine.
 */
const CALM_MS = 30_000;

export function callApi(url: string, method: string, path: string, body?: unknown): Promise<HttpAnswer> {
  return send(url + path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

export async function newAccount(url: string, username: string, password: string): Promise<string> {
  const added = await callApi(url, 'POST', '/ProxyAccount/AddProxyAccount', {
    Username: username,
    Password: password,
  });
  if (added.status !== 200) throw new Error(`adding ${username}: ${added.status} ${added.text}`);
  const list = await callApi(url, 'GET', '/ProxyAccount/GetProxyAccountList');
  const found = (list.json as { Username: string; AID: string }[]).find((each) => each.Username === username);
  if (!found) throw new Error(`${username} is not in the list`);
  return found.AID;
}

/** Creates accounts and changes one account until the campaign is over. */
export async function keepChanging(
  servers: Servers,
  ledger: Ledger,
  operator: Operator,
  name: string,
  isOver: () => boolean,
): Promise<void> {
  const { marked } = operator;
  const checks = new Set<Promise<void>>();
  for (let n = 1; !isOver(); n += 1) {
    const username = `${name}-${n}`;
    const isAnswered = await change(servers, ledger, 'PATCH', `/api/v1/accounts/${marked.id}`, {
      remarks: String(n),
    });
    if (isAnswered) {
      marked.acknowledged = n;
      const reached = Promise.all(servers.nodes.map((node) => waitUntilKnown(node, ledger, marked.id, n)));
      const check: Promise<void> = reached.then(() => void checks.delete(check));
      checks.add(check);
    }
    const fields = { Username: username, Password: 'secret' };
    if (await change(servers, ledger, 'POST', '/ProxyAccount/AddProxyAccount', fields))
      operator.created.push(username);
    await pause(BETWEEN_MS);
  }
  await Promise.all(checks);
}

/** Makes a change. Returns whether the answer reported success. */
async function change(
  servers: Servers,
  ledger: Ledger,
  method: string,
  path: string,
  body: unknown,
): Promise<boolean> {
  const startedAt = Date.now();
  ledger.count('changes sent');
  let answer = '';
  try {
    const { status } = await callApi(servers.operatorsUrl, method, path, body);
    ledger.count(`changes answered ${status}`);
    if (status === 200) return true;
    answer = String(status);
  } catch (error) {
    ledger.count(`changes without an answer (${nameOfError(error)})`);
    answer = nameOfError(error);
  }
  if (!ledger.wasDisturbed('changes', startedAt))
    ledger.breach(`a change was answered ${answer} without a fault`);
  return false;
}

async function waitUntilKnown(node: Node, ledger: Ledger, id: string, n: number): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const answer = await callApi(node.adminUrl, 'GET', `/api/v1/accounts/${id}`).catch(() => null);
    if (Number((answer?.json as { remarks?: string } | undefined)?.remarks ?? 0) >= n) break;
    const now = Date.now();
    if (now - startedAt > MISSED_MS && !ledger.wasDisturbed('changes', now - MISSED_MS))
      return ledger.breach(`a change did not reach ${node.name}`);
    await pause(POLL_MS);
  }
  const tookMs = Date.now() - startedAt;
  const isCalm = ![node.name, 'changes'].some((hit) => ledger.wasDisturbed(hit, startedAt));
  ledger.took(isCalm ? 'change to reach every node' : 'change to reach every node, during faults', tookMs);
  if (isCalm && tookMs > CALM_MS) ledger.breach(`a change took more than ${CALM_MS} ms to reach a node`);
}
