import { expect, it } from 'vitest';
import { firstLine } from './readSecret.ts';

async function* chunks(...given: readonly (string | Uint8Array)[]) {
  yield* given;
}

it.each<[string, readonly (string | Uint8Array)[], string]>([
  ['without a line ending', ['secret'], 'secret'],
  ['with one', ['secret\n'], 'secret'],
  ['with a Windows line ending', ['secret\r\n'], 'secret'],
  ['in pieces, followed by more lines', ['sec', 'ret\nmore\n'], 'secret'],
  ['spaces are part of the secret', [' a b \n'], ' a b '],
  ['a character split between two chunks', [Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x0a)], 'é'],
  ['nothing at all', [], ''],
])('the first line: %s', async (_, given, line) => {
  expect(await firstLine(chunks(...given))).toBe(line);
});
