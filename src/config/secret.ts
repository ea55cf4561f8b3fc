// A secret text. Printing, logging or serialising it shows "(hidden)".
import { inspect } from 'node:util';

export const HIDDEN = '(hidden)';

export class Secret {
  readonly opaque = true;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text. Call this only to compare or send it. */
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
