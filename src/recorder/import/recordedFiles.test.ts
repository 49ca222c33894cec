import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../runtime/errors.ts';
import { type RecordedFrame, readRecording, recordingsUnder } from './recordedFiles.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'underround-recorded-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const file = path.join(dir, name);
  writeFileSync(file, content);
  return file;
}

async function read(file: string): Promise<RecordedFrame[]> {
  const frames: RecordedFrame[] = [];
  for await (const frame of readRecording(file)) frames.push(frame);
  return frames;
}

describe('readRecording', () => {
  it.each([
    [
      'wrapped text',
      '{"received_ms": 1700000000123, "frame": "{\\"a\\":1}"}',
      { receivedTimeMs: 1700000000123, frame: '{"a":1}' },
    ],
    [
      'a wrapped object',
      '{"recv_ms": 1700000000123, "seq": 4, "frame": {"a":1}}',
      { receivedTimeMs: 1700000000123, frame: '{"a":1}' },
    ],
    [
      'a wrapped text that is not JSON',
      '{"received_ms": 5, "frame": "PONG"}',
      { receivedTimeMs: 5, frame: 'PONG' },
    ],
    ['a bare object', '{"event_type":"book"}', { receivedTimeMs: null, frame: '{"event_type":"book"}' }],
    ['a bare array', '[{"event_type":"book"}]', { receivedTimeMs: null, frame: '[{"event_type":"book"}]' }],
    [
      'nanoseconds',
      '1723161253937085768 {"e":"trade"}',
      { receivedTimeMs: 1723161253937, frame: '{"e":"trade"}' },
    ],
    [
      'seconds with a fraction',
      '1618677817.061845: {"type":"x"}',
      { receivedTimeMs: 1618677817061, frame: '{"type":"x"}' },
    ],
    ['seconds', '{"ts": 1618677817.061, "raw": "[]"}', { receivedTimeMs: 1618677817061, frame: '[]' }],
    [
      'a time as text',
      '{"received_at": "2026-11-11T00:00:00.250Z", "msg": {"a":1}}',
      { receivedTimeMs: 1794355200250, frame: '{"a":1}' },
    ],
    ['a message of a venue', '{"message":"x"}', { receivedTimeMs: null, frame: '{"message":"x"}' }],
    ['garbage', '<html>', { receivedTimeMs: null, frame: '<html>' }],
  ])('reads %s', async (_, line, expected) => {
    expect(await read(write('a.jsonl', `${line}\n\n${line}`))).toEqual([expected, expected]);
  });

  it.each([
    ['seconds', '1795176000.123'],
    ['seconds with few decimals', '1795176000.1'],
    ['whole seconds', '1795176000'],
    ['milliseconds', '1795176000250'],
    ['microseconds', '1795176000250999'],
    ['nanoseconds', '1795176000250000000'],
  ])('reads the very millisecond of %s', async (_, text) => {
    const [whole = '', fraction = ''] = text.split('.');
    const receivedTimeMs = Number(`${whole}${fraction}000`.slice(0, 13));
    const frame = '[]';
    const lines = [`${text} []`, JSON.stringify({ t: text, raw: frame }), `{"t": ${text}, "raw": "[]"}`];
    expect(await read(write('a.jsonl', lines.join('\n')))).toEqual(
      lines.map(() => ({ receivedTimeMs, frame })),
    );
  });

  it('reads gzip and zstd by name', async () => {
    expect(await read(write('a.jsonl.zst', zstdCompressSync('{"a":1}\n')))).toHaveLength(1);
    expect(await read(write('a.jsonl.gz', gzipSync('{"a":1}\n')))).toEqual([
      { receivedTimeMs: null, frame: '{"a":1}' },
    ]);
  });

  it('reads a document over several lines as one frame, and a truncated one line by line', async () => {
    expect(await read(write('a.json', '{\n "a": 1\n}\n'))).toEqual([
      { receivedTimeMs: null, frame: '{\n "a": 1\n}' },
    ]);
    expect(await read(write('b.json', '{\n "a": 1\n'))).toHaveLength(2);
  });

  it('names the broken file', async () => {
    const file = write('a.gz', 'no gzip');
    await expect(read(file)).rejects.toThrow(InvalidInputError);
    await expect(read(file)).rejects.toThrow(`cannot read ${file}: incorrect header check`);
  });
});

describe('recordingsUnder', () => {
  it('lists recordings by name and leaves out other files', async () => {
    const files = ['b.jsonl', 'a.jsonl.gz'].map((name) => write(name, ''));
    for (const name of ['PROVENANCE.md', 'expected.json', 'picture.png']) write(name, '');
    expect(await recordingsUnder(dir)).toEqual(files.reverse());
    expect(await recordingsUnder(files[0]!)).toEqual([files[0]]);
  });

  it('rejects an unreadable path and a folder without recordings', async () => {
    await expect(recordingsUnder(path.join(dir, 'nope'))).rejects.toThrow(InvalidInputError);
    await expect(recordingsUnder(dir)).rejects.toThrow(
      `no recordings (.jsonl, .json, .txt, .log, .csv, .parquet, .gz, .zst) under ${dir}`,
    );
  });
});
