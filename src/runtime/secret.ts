/** A text that no log, error or dump shows: its field is private, and `JSON.stringify` gets a placeholder. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself, for the one message that needs it. */
  reveal(): string {
    return this.#text;
  }

  isIn(text: string): boolean {
    return text.includes(this.#text);
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }
}
