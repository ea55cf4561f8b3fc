// A multiset: a member that was added n times needs n removals.
export class Multiset<Key> {
  readonly #counts = new Map<Key, number>();

  has(key: Key): boolean {
    return this.#counts.has(key);
  }

  /** Returns whether it was no member. */
  add(key: Key): boolean {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return count === 0;
  }

  /** Returns whether it is no longer a member. */
  remove(key: Key): boolean {
    const remaining = (this.#counts.get(key) ?? 0) - 1;
    if (remaining <= 0) return this.#counts.delete(key);
    this.#counts.set(key, remaining);
    return false;
  }
}
