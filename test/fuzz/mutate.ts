import type { Random } from '../../src/core/random.ts';

const LENGTH_MAX = 8_192;
/** What parsers most often stumble over. */
const TOKENS = [
  'null',
  '0',
  '-1',
  '1e999',
  'NaN',
  '""',
  '[]',
  '{}',
  'true',
  '\\u0000',
  '\\ud800',
  '__proto__',
  'constructor',
  '9007199254740993',
  '0.00000001',
  '1E5',
  '-0',
  '"',
  ',',
  ':',
  '}',
  ']',
  '%00',
  '&',
  '=',
  '\n',
  'v3',
  'é',
  '1.5.2',
];

/** Another input made from one of the corpus: bytes, tokens and pieces are changed, removed, repeated or exchanged. */
export function mutate(corpus: readonly Buffer[], random: Random): Buffer {
  let input = pick(corpus, random);
  for (let changes = 1 + random.below(4); changes > 0; changes--) input = change(input, corpus, random);
  return input.subarray(0, LENGTH_MAX);
}

function change(input: Buffer, corpus: readonly Buffer[], random: Random): Buffer {
  const at = random.below(input.length + 1);
  const end = Math.min(input.length, at + 1 + random.below(16));
  const around = (middle: Buffer, from = at, to = at) =>
    Buffer.concat([input.subarray(0, from), middle, input.subarray(to)]);
  switch (random.below(7)) {
    case 0:
      return around(Buffer.of(random.below(256)), at, Math.min(input.length, at + 1));
    case 1:
      return around(Buffer.alloc(0), at, end);
    case 2:
      return around(input.subarray(at, end));
    case 3:
      return around(Buffer.from(TOKENS[random.below(TOKENS.length)] as string), at, end);
    case 4:
      return withOtherValue(input, random);
    case 5: {
      const other = pick(corpus, random);
      return Buffer.concat([input.subarray(0, at), other.subarray(random.below(other.length + 1))]);
    }
    default:
      return around(Buffer.from(String(random.below(2 ** 31))), at, end);
  }
}

/** A JSON value is replaced whole, so that the rest still parses. */
function withOtherValue(input: Buffer, random: Random): Buffer {
  const text = input.toString('latin1');
  const values = [...text.matchAll(/:\s*("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|true|false|null)/g)];
  const found = values[random.below(values.length)];
  if (found === undefined) return input;
  const [whole, value = ''] = found;
  const start = found.index + whole.length - value.length;
  const token = TOKENS[random.below(TOKENS.length)] as string;
  const other = value.startsWith('"') && random.chance(0.7) ? JSON.stringify(token) : token;
  return Buffer.from(text.slice(0, start) + other + text.slice(start + value.length), 'latin1');
}

function pick(corpus: readonly Buffer[], random: Random): Buffer {
  return corpus[random.below(corpus.length)] ?? Buffer.alloc(0);
}
