// Repeated kill -9 during writes: no answered change is lost, and no change is stored in part.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptDataDir, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { scaled } from '../helpers/scale.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

const ROUNDS = scaled(3);
const WRITERS = 4;

/** The state after all changes that were answered with 200, and the accounts with a change that was not answered. */
interface Expected {
  readonly accounts: Map<string, { readonly id: string; readonly remarks: string | null }>;
  readonly removed: Set<string>;
  readonly unsettled: Set<string>;
}

describe('kill -9', () => {
  const scope = suiteScope();

  it(`in ${ROUNDS} rounds loses no answered change and stores no change in part`, async () => {
    const dataDir = await keptDataDir(scope);
    const target = await startTarget(scope, echo);
    const expected: Expected = { accounts: new Map(), removed: new Set(), unsettled: new Set() };
    let answers = 0;

    for (let round = 0; round < ROUNDS; round += 1) {
      const daemon = await startTestDaemon(scope, { dataDir });
      await check(daemon, expected);
      const player = `player-${round}`;
      expected.accounts.set(player, { id: await daemon.addAccount(player, 'secret'), remarks: null });
      const session = await connectThrough(
        { port: daemon.socks.port, username: player, password: 'secret' },
        '127.0.0.1',
        target.port,
      );
      // The kill comes after a number of answers that differs by round, while every writer waits for its next answer.
      let answersUntilKill = 3 + (round % 17);
      const onAnswer = (): void => {
        answers += 1;
        answersUntilKill -= 1;
        if (answersUntilKill === 0) daemon.signal('SIGKILL');
      };
      const names = Array.from({ length: WRITERS }, (_, i) => `r${round}w${i}`);
      await Promise.all([...names.map((name) => write(daemon, name, expected, onAnswer)), daemon.exited()]);
      session.destroy();
    }
    await check(await startTestDaemon(scope, { dataDir }), expected);
    assert.ok(answers >= ROUNDS * 3);
  });
});

/** Adds, changes and removes accounts until the daemon is dead. */
async function write(
  daemon: TestDaemon,
  prefix: string,
  expected: Expected,
  onAnswer: () => void,
): Promise<void> {
  const { accounts, removed, unsettled } = expected;
  for (let i = 0; ; i += 1) {
    const name = `${prefix}n${i}`;
    try {
      unsettled.add(name);
      const id = await daemon.addAccount(name, 'secret');
      accounts.set(name, { id, remarks: null });
      unsettled.delete(name);
      onAnswer();

      unsettled.add(name);
      const updated = await daemon.api('POST', '/ProxyAccount/UpdateProxyAccount', {
        AID: id,
        Remarks: name,
      });
      assert.equal(updated.status, 200);
      accounts.set(name, { id, remarks: name });
      unsettled.delete(name);
      onAnswer();

      if (i % 2 === 1) continue;
      unsettled.add(name);
      const answer = await daemon.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${id}`);
      assert.equal(answer.status, 200);
      accounts.delete(name);
      removed.add(name);
      unsettled.delete(name);
      onAnswer();
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // The connection broke: the daemon is dead.
    }
  }
}

/** Compares the accounts after a start with the answered changes. Changes without an answer may be stored or not. */
async function check(daemon: TestDaemon, { accounts, removed, unsettled }: Expected): Promise<void> {
  const answer = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
  const list = answer.json as { AID: string; Username: string; Remarks: string | null; DataCount: number }[];
  const shown = new Map(list.map((account) => [account.Username, account]));
  for (const name of unsettled) {
    const account = shown.get(name);
    if (account) accounts.set(name, { id: account.AID, remarks: account.Remarks });
    else accounts.delete(name);
  }
  unsettled.clear();
  assert.deepEqual([...shown.keys()].sort(), [...accounts.keys()].sort());
  for (const [name, { id, remarks }] of accounts) {
    assert.deepEqual([shown.get(name)?.AID, shown.get(name)?.Remarks], [id, remarks], name);
  }
  for (const name of removed) assert.equal(shown.has(name), false, `${name} exists again`);
}
