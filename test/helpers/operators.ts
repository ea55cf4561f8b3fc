// Operators that a daemon finds stored when it starts. Their password hashes have one round: that of one made by the API costs a tenth
// of a second of CPU time.
import { randomUUID } from 'node:crypto';
import { DAEMON } from '../../src/core/audit/audit.js';
import type { Operator, Role } from '../../src/core/auth/operator.js';
import { createOperators } from '../../src/core/auth/operators.js';
import { openStore } from '../../src/store/store.js';
import { databaseOf } from './database.js';
import { quickPasswords } from './passwords.js';

export interface NewOperator {
  readonly name: string;
  readonly role: Role;
  readonly password: string;
}

/** Stores operators in the database of a data folder, and returns them. */
export async function storeOperators(dataDir: string, added: readonly NewOperator[]): Promise<Operator[]> {
  const store = await openStore(await databaseOf(dataDir));
  const operators = createOperators({
    store: store.operators,
    passwords: quickPasswords(),
    isReserved: () => false,
    newId: randomUUID,
    now: Date.now,
  });
  const stored: Operator[] = [];
  for (const each of added) {
    const result = await operators.create(each, DAEMON);
    if (!result.ok) throw new Error(`the operator ${each.name}: ${result.reason}`);
    stored.push(result.operator);
  }
  await store.close();
  return stored;
}

/** Hands out operators one after another, each for one use. */
export function operatorsInTurn(stored: readonly Operator[]): (role: Role) => Operator {
  const left = [...stored];
  return (role) => {
    const at = left.findIndex((operator) => operator.role === role);
    const [operator] = at === -1 ? [] : left.splice(at, 1);
    if (!operator) throw new Error(`no ${role} is left: let the daemon start with more`);
    return operator;
  };
}

/** Returns `count` new operators with random names. */
export const manyOperators = (role: Role, count: number, password: string): NewOperator[] =>
  Array.from({ length: count }, () => ({ name: `${role}-${randomUUID()}`, role, password }));
