import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';

/** References have half the width and height: small files, and no difference of a few font pixels. */
const SCALE = 0.5;
const QUALITY = 0.6;
/** Steps of 256 by which a colour may differ; the compression alone differs by fewer. */
const COLOUR_STEPS = 48;
/** Share of pixels that may differ more. */
const SHARE_MAX = 0.015;

/** Draws both pictures in a browser's canvas. Runs in the page. */
const COMPARE = `async ({ shot, reference, scale, quality, steps }) => {
  const draw = async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    return image;
  };
  const now = await draw(shot);
  const [width, height] = [now.width * scale, now.height * scale];
  const pixels = (image) => {
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return { canvas, data: context.getImageData(0, 0, width, height).data };
  };
  const drawn = pixels(now);
  const encoded = drawn.canvas.toDataURL('image/webp', quality);
  if (reference === null) return { share: 1, encoded };
  const before = await draw(reference);
  if (before.width !== width || before.height !== height) return { share: 1, encoded };
  const old = pixels(before).data;
  let different = 0;
  for (let at = 0; at < old.length; at += 4) {
    const far = [0, 1, 2].some((channel) => Math.abs(old[at + channel] - drawn.data[at + channel]) > steps);
    if (far) different++;
  }
  return { share: different / (old.length / 4), encoded };
}`;

interface ComparedFile {
  readonly file: string;
  /** Writes the files instead. */
  readonly isRenewing: boolean;
  /** Receives the picture in its full size, for the documentation. */
  readonly documented?: string | null;
}

/**
 * Compares a screenshot with its reference, or writes the reference.
 * @param canvas An empty page, which compares.
 * @returns Why they differ; null: they are alike.
 */
export async function comparePicture(
  canvas: Page,
  shot: Buffer,
  { file, isRenewing, documented = null }: ComparedFile,
): Promise<string | null> {
  const data = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
  const reference = existsSync(file) ? data('webp', readFileSync(file)) : null;
  const given = { shot: data('png', shot), reference, scale: SCALE, quality: QUALITY, steps: COLOUR_STEPS };
  const run = (values: typeof given) =>
    canvas.evaluate<{ share: number; encoded: string }>(`(${COMPARE})(${JSON.stringify(values)})`);
  const { share, encoded } = await run(given);
  if (isRenewing) {
    write(file, encoded);
    if (documented !== null) write(documented, (await run({ ...given, reference: null, scale: 1 })).encoded);
    return null;
  }
  if (reference === null) return `${file} is missing`;
  return share > SHARE_MAX ? `${(share * 100).toFixed(1)} % of the pixels differ from ${file}` : null;
}

function write(file: string, address: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.from(address.replace(/^.*?,/, ''), 'base64'));
}
