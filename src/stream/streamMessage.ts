import type { TextFrame } from './textFrame.ts';

/** The text of a message. */
export interface PrintedMessage {
  readonly frame: TextFrame;
  /** Where the part begins that does not depend on the cursor. */
  readonly bodyAt: number;
}

/** A message that is printed when a client first needs it. */
interface UnprintedMessage {
  /** Memory that it takes until then. */
  readonly bytes: number;
  print(): PrintedMessage;
}

/** One message for all subscribers of a market: printed once, and not at all if no client needs it. */
export class StreamMessage {
  /** The record's number, raised if needed: above the previous message's, or for a notice at least equal to it. */
  readonly seq: number;
  /** Which change of its market's book this is; null: a notice. */
  readonly change: number | null;
  readonly trusted: boolean;
  /** Called with the growth in bytes when it is printed after its construction. */
  onPrinted: ((bytes: number) => void) | null = null;
  #content: UnprintedMessage | PrintedMessage;

  constructor(
    { seq, change, trusted }: { seq: number; change: number | null; trusted: boolean },
    content: UnprintedMessage | PrintedMessage,
  ) {
    this.seq = seq;
    this.change = change;
    this.trusted = trusted;
    this.#content = content;
  }

  /** Memory that it takes now. */
  get bytes(): number {
    return 'frame' in this.#content ? this.#content.frame.message.length : this.#content.bytes;
  }

  /** The message as it goes out. */
  get frame(): TextFrame {
    return this.#printed.frame;
  }

  /** The part that does not depend on the cursor. */
  get body(): Buffer {
    const { frame, bodyAt } = this.#printed;
    return frame.message.subarray(bodyAt);
  }

  get #printed(): PrintedMessage {
    if ('frame' in this.#content) return this.#content;
    const before = this.bytes;
    const printed = this.#content.print();
    this.#content = printed;
    this.onPrinted?.(this.bytes - before);
    return printed;
  }
}
