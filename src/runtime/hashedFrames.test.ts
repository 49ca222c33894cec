import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { framed, unframed } from './hashedFrames.ts';

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return Buffer.concat(found);
}

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));

/** The same bytes, cut at other places. */
const cut = (whole: Buffer, size: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    ),
  );

test('frames give back the bytes, however the answer is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bytes), fc.integer({ min: 1, max: 300 }), async (chunks, size) => {
      const whole = await collect(framed(Readable.from(chunks)));
      expect(await collect(unframed(cut(whole, size)))).toEqual(Buffer.concat(chunks));
    }),
  );
});

test('an answer that ends early or is damaged is refused, wherever that is', async () => {
  const whole = await collect(framed(Readable.from([Buffer.from('one'), Buffer.from('two')])));
  for (let at = 0; at < whole.length; at++) {
    const shorter = collect(unframed(cut(whole.subarray(0, at), 7)));
    await expect(shorter).rejects.toThrow('the answer ended early');
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] as number) ^ 1;
    await expect(collect(unframed(cut(damaged, 7)))).rejects.toThrow(/^the answer (ended early|is damaged)/);
  }
});
