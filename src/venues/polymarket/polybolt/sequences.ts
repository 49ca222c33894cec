/** What a data frame shows about the frames before it. */
interface LostFrames {
  readonly channel: string;
  /** Frames of the channel that were sent and did not arrive, or that the venue discarded; at least 1. */
  readonly frames: number;
}

/** Follows the numbers of each channel on one connection; a number that is left out is a lost frame. */
export class ChannelSequences {
  readonly #last = new Map<string, number>();

  /** @param frame Of any symbol: the symbols of a channel share its numbers. @returns Null if nothing was lost. */
  check(frame: { channel: string; seq: number; dropped?: number | undefined }): LostFrames | null {
    const { channel, seq, dropped = 0 } = frame;
    const last = this.#last.get(channel);
    this.#last.set(channel, seq);
    // The first frame of a connection follows a snapshot or is one. A number that goes back counts as one lost frame.
    const missing = last === undefined ? 0 : seq > last ? seq - last - 1 : 1;
    // The documents do not say whether a discarded frame also leaves a hole; the larger count includes both cases.
    const frames = Math.max(missing, dropped);
    return frames === 0 ? null : { channel, frames };
  }

  /** Accepts any next number of a channel. */
  restart(channel: string): void {
    this.#last.delete(channel);
  }
}
