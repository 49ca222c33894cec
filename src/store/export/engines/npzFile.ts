/**
 * NumPy's `.npz` with one array of hftbacktest's event type: a ZIP archive with the member `data.npy`. Formats:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html and
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (read 2026-11-23).
 */
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { InvalidInputError } from '../../../runtime/errors.ts';

/** The fields of hftbacktest's `event_dtype`, of 8 bytes each. */
const FIELDS = [
  ...[['ev', '<u8'] as const, ['exch_ts', '<i8'] as const, ['local_ts', '<i8'] as const],
  ...[['px', '<f8'] as const, ['qty', '<f8'] as const, ['order_id', '<u8'] as const],
  ...[['ival', '<i8'] as const, ['fval', '<f8'] as const],
] as const;
const EVENT_BYTES = FIELDS.length * 8;

const MEMBER = Buffer.from('data.npy');
const NPY_MAGIC = Buffer.from('\x93NUMPY\x01\x00', 'latin1');
/** The header ends at a multiple of this, so that hftbacktest can map the array. */
const ALIGNMENT = 64;
/** Without the 64-bit extension of ZIP. */
const BYTES_MAX = 0xffff_ffff;

const LOCAL_HEADER = 0x0403_4b50;
const DESCRIPTOR = 0x0807_4b50;
const DIRECTORY = 0x0201_4b50;
const DIRECTORY_END = 0x0605_4b50;
const VERSION = 20;
/** Bit 3: sizes and checksum follow the data. */
const FLAGS = 0x0008;
const DEFLATE = 8;
/** 1980-01-01: the same rows give the same bytes. */
const DATE = 0x0021;

/**
 * The bytes of the archive.
 * @param events The events as they are in memory.
 * @throws {InvalidInputError} If there are more than 4 GiB of events, or not as many as announced.
 */
export async function* npzOf(events: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  const header = npyHeader(count);
  const size = header.length + count * EVENT_BYTES;
  if (size > BYTES_MAX) throw new InvalidInputError(`${count} events do not fit into one .npz file`);
  const sum = { crc: 0, bytes: 0, packed: 0 };
  async function* plain() {
    yield counted(header);
    for await (const chunk of events) yield counted(chunk);
  }
  const counted = (chunk: Buffer) => {
    sum.crc = crc32(chunk, sum.crc);
    sum.bytes += chunk.length;
    return chunk;
  };
  yield Buffer.concat([numbers([4, LOCAL_HEADER], ...common(0, 0, 0), [2, MEMBER.length], [2, 0]), MEMBER]);
  for await (const chunk of packed(plain())) {
    sum.packed += chunk.length;
    yield chunk;
  }
  if (sum.bytes !== size) throw new InvalidInputError(`${sum.bytes} bytes of events, not ${size}`);
  const at = LOCAL_HEADER_BYTES + MEMBER.length + sum.packed + DESCRIPTOR_BYTES;
  const sizes = [sum.crc, sum.packed, sum.bytes] as const;
  yield numbers([4, DESCRIPTOR], ...sizes.map((value): Field => [4, value]));
  const entry = Buffer.concat([
    numbers(
      [4, DIRECTORY],
      [2, VERSION],
      ...common(...sizes),
      [2, MEMBER.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, 0],
    ),
    MEMBER,
  ]);
  yield entry;
  yield numbers([4, DIRECTORY_END], [2, 0], [2, 0], [2, 1], [2, 1], [4, entry.length], [4, at], [2, 0]);
}

const LOCAL_HEADER_BYTES = 30;
const DESCRIPTOR_BYTES = 16;

type Field = readonly [bytes: 2 | 4, value: number];

const common = (crc: number, packedBytes: number, bytes: number): Field[] => [
  ...[[2, VERSION] as const, [2, FLAGS] as const, [2, DEFLATE] as const, [2, 0] as const, [2, DATE] as const],
  ...[[4, crc] as const, [4, packedBytes] as const, [4, bytes] as const],
];

function numbers(...fields: readonly Field[]): Buffer {
  const out = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) at = out.writeUIntLE(value, at, bytes);
  return out;
}

function npyHeader(count: number): Buffer {
  const fields = FIELDS.map(([name, type]) => `('${name}', '${type}')`).join(', ');
  const text = `{'descr': [${fields}], 'fortran_order': False, 'shape': (${count},), }`;
  const before = NPY_MAGIC.length + 2;
  const length = Math.ceil((before + text.length + 1) / ALIGNMENT) * ALIGNMENT - before;
  return Buffer.concat([NPY_MAGIC, numbers([2, length]), Buffer.from(`${text.padEnd(length - 1)}\n`)]);
}

async function* packed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw();
  const fed = pipeline(chunks, deflate);
  // It is awaited below; a failure before that ends the loop.
  fed.catch(() => undefined);
  for await (const chunk of deflate as AsyncIterable<Buffer>) yield chunk;
  await fed;
}
