/**
 * The bytes of a message of the record stream: a version, a checksum of the rest, and a MessagePack array of kind, id,
 * key, sender, run and body. A release that changes the meaning of any of these bytes uses another version.
 */
import { crc32 } from 'node:zlib';
import { decode, encode } from '@msgpack/msgpack';
import { StreamMessageError } from '../../runtime/errors.ts';
import type { StreamBodies, StreamKind, StreamMessage } from '../recordStream.ts';
import { decodeAction, encodeAction } from './action.ts';

const VERSION = 1;
const CRC_AT = 1;
const HEAD_BYTES = 5;
const FIELDS = 6;

/** Numbers of the kinds in messages. A number is never given to another kind. */
const KIND_NUMBERS = {
  action: 0,
  trade: 1,
  underlying: 2,
  perpDepth: 3,
  market: 4,
  gap: 5,
  proven: 6,
  alive: 7,
  opportunity: 8,
} as const satisfies Record<StreamKind, number>;
const KINDS = new Map(
  Object.entries(KIND_NUMBERS).map(([kind, number]) => [number as number, kind as StreamKind]),
);

/** Copies the message into bytes; its views may change afterwards. */
export function encodeMessage({ kind, id, key, sender, run, body }: StreamMessage): Uint8Array {
  const packed = kind === 'action' ? encodeAction(body as StreamBodies['action'], key) : body;
  const envelope = encode([KIND_NUMBERS[kind], id, key, sender, run, packed], { ignoreUndefined: true });
  const bytes = new Uint8Array(HEAD_BYTES + envelope.length);
  bytes[0] = VERSION;
  new DataView(bytes.buffer).setUint32(CRC_AT, crc32(envelope), true);
  bytes.set(envelope, HEAD_BYTES);
  return bytes;
}

/** @throws {StreamMessageError} When the bytes are damaged or of another version. */
export function decodeMessage(bytes: Uint8Array): StreamMessage {
  const [version] = bytes;
  if (version === undefined) throw new StreamMessageError('an empty message');
  if (version !== VERSION) {
    throw new StreamMessageError(`a message of version ${version}; this release reads version ${VERSION}`);
  }
  const envelope = bytes.subarray(HEAD_BYTES);
  const sum = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length <= HEAD_BYTES || sum.getUint32(CRC_AT, true) !== crc32(envelope)) {
    throw new StreamMessageError(`a damaged message of ${bytes.length} bytes: its checksum is wrong`);
  }
  try {
    return messageOf(decode(envelope));
  } catch (error) {
    if (error instanceof StreamMessageError) throw error;
    throw new StreamMessageError('a message with contents that this release cannot read', { cause: error });
  }
}

function messageOf(fields: unknown): StreamMessage {
  if (!Array.isArray(fields) || fields.length !== FIELDS) {
    throw new StreamMessageError('a message without the fields of a message');
  }
  const [number, id, key, sender, run, packed] = fields as unknown[];
  const kind = KINDS.get(number as number);
  if (kind === undefined) throw new StreamMessageError(`a message of the unknown kind ${number}`);
  const texts = [id, sender, run].every((text) => typeof text === 'string');
  if (!texts || (key !== null && typeof key !== 'string')) {
    throw new StreamMessageError(`a message of the kind ${kind} whose id, key, sender or run is no text`);
  }
  if (typeof packed !== 'object' || packed === null) {
    throw new StreamMessageError(`a message of the kind ${kind} without a body`);
  }
  const body = kind === 'action' ? decodeAction(packed, key) : packed;
  return { kind, id, key, sender, run, body } as StreamMessage;
}
