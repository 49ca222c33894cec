import { crc32 } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryMessage, plainMessage } from '../../../test/support/streamMessages.ts';
import { StreamMessageError } from '../../runtime/errors.ts';
import { decodeMessage, encodeMessage } from './message.ts';

describe('a message in bytes', () => {
  it('is decoded as it was encoded, with the NO sides of a mirrored book', () => {
    fc.assert(
      fc.property(arbitraryMessage(), (message) => {
        expect(plainMessage(decodeMessage(encodeMessage(message)))).toEqual(plainMessage(message));
      }),
    );
  });

  it('is refused when one of its bits differs', () => {
    fc.assert(
      fc.property(arbitraryMessage(), fc.nat(), fc.integer({ min: 0, max: 7 }), (message, at, bit) => {
        const bytes = encodeMessage(message);
        bytes[at % bytes.length]! ^= 1 << bit;
        expect(() => decodeMessage(bytes)).toThrow(StreamMessageError);
      }),
    );
  });

  it('is refused when it is cut short', () => {
    fc.assert(
      fc.property(arbitraryMessage(), fc.nat(), (message, length) => {
        const bytes = encodeMessage(message);
        expect(() => decodeMessage(bytes.subarray(0, length % bytes.length))).toThrow(StreamMessageError);
      }),
    );
  });

  it.each([
    ['nothing', [], 'an empty message'],
    ['another version', [2, 0, 0], 'a message of version 2; this release reads version 1'],
    ['a wrong checksum', [1, 0, 0, 0, 0, 5], 'a damaged message of 6 bytes: its checksum is wrong'],
    ['a text', withHead('x'), 'a message without the fields of a message'],
    ['an unknown kind', withHead([99, 'i', null, 's', 'r', {}]), 'a message of the unknown kind 99'],
    [
      'a number as id',
      withHead([1, 5, null, 's', 'r', {}]),
      'a message of the kind trade whose id, key, sender or run is no text',
    ],
    ['no body', withHead([1, 'i', null, 's', 'r', null]), 'a message of the kind trade without a body'],
    [
      'an action that is none',
      withHead([0, 'i', null, 's', 'r', {}]),
      'a message with contents that this release cannot read',
    ],
  ])('with %s is refused', (_name, bytes, message) => {
    expect(() => decodeMessage(Uint8Array.from(bytes))).toThrow(new StreamMessageError(message));
  });
});

function withHead(envelope: unknown): number[] {
  const bytes = encode(envelope);
  const head = new DataView(new ArrayBuffer(5));
  head.setUint8(0, 1);
  head.setUint32(1, crc32(bytes), true);
  return [...new Uint8Array(head.buffer), ...bytes];
}
