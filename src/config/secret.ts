// A text that must not be seen: whatever prints, logs or serialises it by accident shows only that it is hidden.
import { inspect } from 'node:util';

export const HIDDEN = '(hidden)';

export class Secret {
  readonly opaque = true;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Call it only where it is compared or sent. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
