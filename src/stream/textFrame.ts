/** A whole message in one text frame; from a server, so unmasked. */
const WHOLE_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** A message as sent over the wire, built once for all clients. Its bytes must not change any more. */
export interface TextFrame {
  readonly bytes: Buffer;
  /** The text itself: a view of the same bytes. */
  readonly message: Buffer;
}

/** @param parts UTF-8; the message is their concatenation. */
export function textFrame(parts: readonly Buffer[]): TextFrame {
  let length = 0;
  for (const part of parts) length += part.length;
  const header = headerOf(length);
  const bytes = Buffer.concat([header, ...parts], header.length + length);
  return { bytes, message: bytes.subarray(header.length) };
}

/** @see https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
function headerOf(length: number): Buffer {
  if (length < LENGTH_16) return Buffer.of(WHOLE_TEXT, length);
  if (length < 0x1_0000) {
    const header = Buffer.of(WHOLE_TEXT, LENGTH_16, 0, 0);
    header.writeUInt16BE(length, 2);
    return header;
  }
  const header = Buffer.alloc(10);
  header.writeUInt16BE((WHOLE_TEXT << 8) | LENGTH_64, 0);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
