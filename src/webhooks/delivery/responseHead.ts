import { escapeHtml } from '../../runtime/html.ts';

/** Characters kept of a reply's body. */
const HEAD_LENGTH = 500;
/** Bytes that hold that many characters, whichever they are. */
export const HEAD_BYTES_MAX = HEAD_LENGTH * 4;

/** Escapes untrusted text so that it is safe to show anywhere: no markup, no control or direction characters. */
export function escapeHead(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const text = bytes.subarray(0, HEAD_BYTES_MAX).toString('utf8').slice(0, HEAD_LENGTH);
  return escapeHtml(text.replace(/[^\P{C}\n\t]/gu, '\ufffd'));
}
