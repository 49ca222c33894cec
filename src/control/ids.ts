import type { Clock } from '../runtime/clock.ts';
import { type RandomBytes, randomBase62 } from './base62.ts';

/** The inputs a repository needs to create a row, besides the database. */
export interface RowSources {
  readonly clock: Pick<Clock, 'now'>;
  readonly randomBytes: RandomBytes;
}

/** 16 base62 characters are 95 bits: two equal ids are not expected in the lifetime of the service. */
const ID_LENGTH = 16;

/** A new id such as `usr_3fQ...`; the prefix shows the kind of object. */
export function createId(
  prefix: 'usr' | 'key' | 'ses' | 'wh' | 'bt' | 'ps' | 'evt' | 'inc',
  randomBytes: RandomBytes,
): string {
  return `${prefix}_${randomBase62(ID_LENGTH, randomBytes)}`;
}
