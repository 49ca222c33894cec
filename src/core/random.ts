/**
 * Reproducible pseudo-random numbers for the simulator, the bootstrap and tests. A generator is seeded with a text, so
 * every market, price path and ladder can have its own stream. Draws from one stream never affect another, and the same
 * seed gives the same bytes in whatever order streams are used.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;
  #spare: number | null = null;

  constructor(seed: string) {
    const mix = textMixer(seed);
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    this.#counter = mix();
    for (let i = 0; i < WARM_UP_DRAWS; i++) this.bits();
  }

  /** 32 random bits as an unsigned integer (Small Fast Counter, Chris Doty-Humphrey's sfc32). */
  bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    return this.bits() / 4294967296;
  }

  uniform(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** An integer in [0, count). */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Standard normal, by Box and Muller's polar form, which yields two draws at a time. */
  normal(): number {
    if (this.#spare !== null) {
      const value = this.#spare;
      this.#spare = null;
      return value;
    }
    for (;;) {
      const u = 2 * this.next() - 1;
      const v = 2 * this.next() - 1;
      const square = u * u + v * v;
      if (square === 0 || square >= 1) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = v * scale;
      return u * scale;
    }
  }

  /** @param sigma Standard deviation of the logarithm. */
  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Lower-case hex digits. */
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += this.bits().toString(16).padStart(8, '0');
    return text.slice(0, digits);
  }

  /** Decimal digits, the first of them not 0. */
  decimal(digits: number): string {
    let text = String(1 + this.below(9));
    while (text.length < digits) text += String(this.below(1_000_000_000)).padStart(9, '0');
    return text.slice(0, digits);
  }
}

const WARM_UP_DRAWS = 12;

/** Turns a text into a sequence of well-mixed 32-bit words (FNV-1a, then Murmur3's finaliser). */
function textMixer(text: string): () => number {
  let state = 2166136261;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 16777619);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return word ^ (word >>> 16);
  };
}
