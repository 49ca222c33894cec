import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecording } from '../../src/recorder/import/recordedFiles.ts';
import { InvalidInputError } from '../../src/runtime/errors.ts';
import type { FuzzTarget } from './target.ts';

let file: string | null = null;

/** The lines of an imported recording. */
export const importTarget: FuzzTarget = {
  name: 'import',
  run: async (input) => {
    file ??= join(mkdtempSync(join(tmpdir(), 'underround-fuzz-')), 'recording.jsonl');
    writeFileSync(file, input);
    try {
      for await (const { frame, receivedTimeMs } of readRecording(file)) {
        if (typeof frame !== 'string') throw new TypeError('a frame is text');
        if (receivedTimeMs !== null && !Number.isInteger(receivedTimeMs))
          throw new TypeError(`the receive time ${receivedTimeMs} of a line is no whole number`);
      }
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
    }
  },
};
