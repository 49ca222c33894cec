import { crc32 } from 'node:zlib';

/** The partitions to which a message with this key goes: one by its key, or all of them without a key. */
export function partitionsOf(key: string | null, partitions: number): readonly number[] {
  if (key === null) return Array.from({ length: partitions }, (_, partition) => partition);
  return [crc32(key) % partitions];
}
