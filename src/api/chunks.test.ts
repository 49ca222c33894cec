import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../errors.ts';
import { type BodyChunk, joinChunks } from './chunks.ts';

const chunk = (body: string, closing: string): BodyChunk => ({
  open: async () => Readable.from([Buffer.from(body)], { objectMode: false }),
  closing,
});

describe('joinChunks', () => {
  it('joins in order', async () => {
    const joined = joinChunks([chunk('[1\n,2 \n', ' '), chunk(',3 \n', ' '), chunk(',4]\n', ']')]);
    expect(await text(joined)).toBe('[1\n,2 \n,3 \n,4]\n');
  });

  it.each([0, 1, 2])('fails when chunk %i was cut short', async (cut) => {
    const chunks = [chunk('[1 ', ' '), chunk(',2 ', ' '), chunk(',3]', ']')];
    chunks[cut] = chunk(cut === 0 ? '[1' : ',2', (chunks[cut] as BodyChunk).closing);
    await expect(text(joinChunks(chunks))).rejects.toThrow(StoreUnavailableError);
  });

  it('fails when a chunk cannot be opened, whichever it is', async () => {
    const broken: BodyChunk = { open: () => Promise.reject(new StoreUnavailableError('away')), closing: ']' };
    await expect(text(joinChunks([broken]))).rejects.toThrow('away');
    await expect(text(joinChunks([chunk('[1 ', ' '), broken]))).rejects.toThrow('away');
  });

  it('opens one chunk ahead and destroys what is open when nobody reads on', async () => {
    const opened: Readable[] = [];
    const endless = (): BodyChunk => ({
      open: async () => {
        const stream = new Readable({
          read() {
            this.push(Buffer.alloc(65_536, 32));
          },
        });
        opened.push(stream);
        return stream;
      },
      closing: ' ',
    });
    const joined = joinChunks([endless(), endless(), endless()]);
    await new Promise((resolve) => joined.once('data', resolve));
    joined.destroy();
    await new Promise((resolve) => joined.once('close', resolve));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(opened).toHaveLength(2);
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });
});
