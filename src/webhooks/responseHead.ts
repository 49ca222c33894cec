import type { Readable } from 'node:stream';

/** What is read of a reply; the rest is cut off with its connection. */
export const REPLY_BYTES_MAX = 20 * 1024;
/** Characters of it that are kept. */
export const HEAD_LENGTH = 500;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Reads a reply to its end, or to the limit. Rejects where it breaks off before either. */
export async function readHead(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and its connection.
    if (bytes >= REPLY_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, REPLY_BYTES_MAX);
}

/** A stranger's text made harmless wherever it is shown: no markup, no control or direction characters. */
export function escapeHead(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const text = bytes
    .subarray(0, HEAD_LENGTH * 4)
    .toString('utf8')
    .slice(0, HEAD_LENGTH);
  return text
    .replace(/[^\P{C}\n\t]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
