import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { BackupDamagedError } from '../runtime/errors.ts';
import { type BackupStorage, backupPieceName, sha256Of } from './backupStorage.ts';
import type { Pack } from './manifest.ts';
import { readPack, writePack } from './pack.ts';

const PIECE_BYTES = 8;

/** Objects in memory, and the sizes of those written. */
function rig() {
  const objects = new Map<string, Uint8Array>();
  const written: number[] = [];
  const storage: BackupStorage = {
    name: 'memory',
    list: async () => new Map(),
    read: async (name) => Buffer.from(objects.get(name) ?? []),
    write: async (name, bytes) => {
      objects.set(name, bytes);
      written.push(bytes.length);
    },
    isWithin: async () => false,
    freeBytes: async () => null,
    claim: async () => ({ discard: async () => {}, release: async () => {} }),
  };
  const directory = temporaryDirectory();
  const stored = new Map<string, number>();
  const write = (...texts: readonly string[]) => {
    const files = texts.map((text, at) => {
      const source = join(directory, String(at));
      writeFileSync(source, text);
      return { path: `file${at}`, source, bytes: text.length };
    });
    return writePack({ storage, stored, pieceBytes: PIECE_BYTES }, { identity: null, files });
  };
  const read = async (pack: Pack) => {
    const files: string[] = [];
    let parts: string[] = [];
    await readPack(storage, pack, {
      onFile: async () => {
        parts = [];
      },
      onBytes: async (bytes) => void parts.push(bytes.toString()),
      onFileEnd: async () => void files.push(parts.join('')),
    });
    return files;
  };
  return { objects, written, write, read };
}

test.each<[string, string[], number[]]>([
  ['one piece of several files', ['abc', 'de'], [5]],
  ['a full piece', ['abcdefgh'], [8]],
  ['pieces that end within files', ['abcdefghij', '', 'klmnopqrstuvw'], [8, 8, 7]],
  ['no piece of empty files', ['', ''], []],
])('a pack has %s, and its files are read back unchanged', async (_, texts, sizes) => {
  const { written, write, read } = rig();
  const pack = await write(...texts);
  expect([written, pack.pieces.map(({ bytes }) => bytes)]).toEqual([sizes, sizes]);
  expect(pack.files.map(({ bytes }) => bytes)).toEqual(texts.map(({ length }) => length));
  expect(await read(pack)).toEqual(texts);
});

test('a piece that is stored already is not written again', async () => {
  const { written, write, read } = rig();
  await write('abcdefghij');
  const pack = await write('abcdefghkl');
  expect(written).toEqual([8, 2, 2]);
  expect(await read(pack)).toEqual(['abcdefghkl']);
});

test('a pack whose pieces have fewer or more bytes than its files is damaged', async () => {
  const { objects, write, read } = rig();
  const pack = await write('abcdefghij');
  await expect(read({ ...pack, pieces: pack.pieces.slice(0, 1) })).rejects.toThrow(BackupDamagedError);
  await expect(read({ ...pack, pieces: [...pack.pieces, ...pack.pieces] })).rejects.toThrow(
    BackupDamagedError,
  );
  objects.set(backupPieceName(sha256Of('ij')), Buffer.from('iJ'));
  await expect(read(pack)).rejects.toThrow(BackupDamagedError);
});
