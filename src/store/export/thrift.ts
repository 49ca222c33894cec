/**
 * Thrift's compact protocol, without a schema: enough to change numbers in a Parquet footer and write all else back as
 * it was. See https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md (read 2026-11-23).
 */
import { StoreUnavailableError } from '../../runtime/errors.ts';

const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

/** A value with its wire type. Integers of all widths are `bigint`. */
export type ThriftValue =
  | { readonly type: typeof TRUE | typeof FALSE; value: null }
  | { readonly type: typeof BYTE; value: number }
  | { readonly type: typeof I16 | typeof I32 | typeof I64; value: bigint }
  | { readonly type: typeof DOUBLE | typeof BINARY; value: Buffer }
  | { readonly type: typeof LIST | typeof SET; readonly of: number; value: ThriftValue[] }
  | { readonly type: typeof STRUCT; value: ThriftStruct };
/** Fields by number. */
export type ThriftStruct = Map<number, ThriftValue>;

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    let field = 0;
    for (;;) {
      const head = this.#byte();
      if (head === STOP) return fields;
      const step = head >> 4;
      field = step === 0 ? Number(this.#zigzag()) : field + step;
      fields.set(field, this.#value(head & 0x0f, false));
    }
  }

  #value(type: number, inList: boolean): ThriftValue {
    switch (type) {
      case TRUE:
      case FALSE:
        return { type: (inList ? this.#byte() : type) as typeof TRUE | typeof FALSE, value: null };
      case BYTE:
        return { type, value: this.#byte() };
      case I16:
      case I32:
      case I64:
        return { type, value: this.#zigzag() };
      case DOUBLE:
        return { type, value: this.#take(8) };
      case BINARY:
        return { type, value: this.#take(Number(this.#varint())) };
      case LIST:
      case SET:
        return this.#list(type);
      case STRUCT:
        return { type, value: this.struct() };
      default:
        throw new StoreUnavailableError(`a Parquet footer with a value of Thrift type ${type}`);
    }
  }

  #list(type: typeof LIST | typeof SET): ThriftValue {
    const head = this.#byte();
    const short = head >> 4;
    const size = short === 15 ? Number(this.#varint()) : short;
    const of = head & 0x0f;
    return { type, of, value: Array.from({ length: size }, () => this.#value(of, true)) };
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  #take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return (value >> 1n) ^ -(value & 1n);
  }
}

export function readStruct(bytes: Buffer): ThriftStruct {
  return new Reader(bytes).struct();
}

export function writeStruct(fields: ThriftStruct): Buffer {
  const pieces: Buffer[] = [];
  putStruct(pieces, fields);
  return Buffer.concat(pieces);
}

/** The bytes of a list of structs that are already bytes. */
export function writeStructList(structs: readonly Buffer[]): Buffer {
  return Buffer.concat([listHead(STRUCT, structs.length), ...structs]);
}

/**
 * The bytes of a struct in which some fields are given as bytes of their value.
 * @param raw By field number: the wire type and the bytes.
 */
export function writeStructWith(
  fields: ThriftStruct,
  raw: ReadonlyMap<number, { readonly type: 'list'; readonly bytes: Buffer }>,
): Buffer {
  const pieces: Buffer[] = [];
  const numbers = [...new Set([...fields.keys(), ...raw.keys()])].sort((a, b) => a - b);
  let last = 0;
  for (const number of numbers) {
    const given = raw.get(number);
    const value = fields.get(number) as ThriftValue;
    pieces.push(fieldHead(number - last, given ? LIST : value.type));
    if (given) pieces.push(given.bytes);
    else putValue(pieces, value, false);
    last = number;
  }
  pieces.push(Buffer.of(STOP));
  return Buffer.concat(pieces);
}

function putStruct(pieces: Buffer[], fields: ThriftStruct): void {
  pieces.push(writeStructWith(fields, new Map()));
}

/** @param step Field numbers rise by less than 16 in every struct of a Parquet footer. */
function fieldHead(step: number, type: number): Buffer {
  return Buffer.of((step << 4) | type);
}

function listHead(of: number, size: number): Buffer {
  return size < 15
    ? Buffer.of((size << 4) | of)
    : Buffer.concat([Buffer.of(0xf0 | of), varint(BigInt(size))]);
}

function putValue(pieces: Buffer[], value: ThriftValue, inList: boolean): void {
  switch (value.type) {
    case TRUE:
    case FALSE:
      if (inList) pieces.push(Buffer.of(value.type));
      return;
    case BYTE:
      pieces.push(Buffer.of(value.value));
      return;
    case I16:
    case I32:
    case I64:
      pieces.push(varint(BigInt.asUintN(64, (value.value << 1n) ^ (value.value >> 63n))));
      return;
    case DOUBLE:
      pieces.push(value.value);
      return;
    case BINARY:
      pieces.push(varint(BigInt(value.value.length)), value.value);
      return;
    case LIST:
    case SET:
      pieces.push(listHead(value.of, value.value.length));
      for (const element of value.value) putValue(pieces, element, true);
      return;
    case STRUCT:
      putStruct(pieces, value.value);
  }
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** A list of pairs of texts, as structs with the fields 1 and 2. */
export function textPairs(pairs: Readonly<Record<string, string>>): ThriftValue {
  const text = (value: string): ThriftValue => ({ type: BINARY, value: Buffer.from(value) });
  const value = Object.entries(pairs).map(([key, of]): ThriftValue => {
    return {
      type: STRUCT,
      value: new Map([
        [1, text(key)],
        [2, text(of)],
      ]),
    };
  });
  return { type: LIST, of: STRUCT, value };
}
