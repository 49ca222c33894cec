import { expect, it } from 'vitest';
import { firstLine } from './readSecret.ts';

async function* chunks(...given: readonly (string | Uint8Array)[]) {
  yield* given;
}

it.each<[string, readonly (string | Uint8Array)[], string]>([
  ['without an end of line', ['secret'], 'secret'],
  ['with one', ['secret\n'], 'secret'],
  ['with one of Windows', ['secret\r\n'], 'secret'],
  ['in pieces, more lines behind it', ['sec', 'ret\nmore\n'], 'secret'],
  ['spaces are part of it', [' a b \n'], ' a b '],
  ['a character cut in two', [Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x0a)], 'é'],
  ['nothing at all', [], ''],
])('the first line: %s', async (_, given, line) => {
  expect(await firstLine(chunks(...given))).toBe(line);
});
