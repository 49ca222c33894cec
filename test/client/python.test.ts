import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EXPORT_COLUMNS } from '../../src/schema/export.ts';
import { exampleOf, QUICK_LINES, QUICK_MARKET, quickStartStore } from '../support/quickStart.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import type { TestStore } from '../support/store.ts';
import { StreamRig } from '../support/streams.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

const FOLDER = join(PROJECT_ROOT, 'clients/python');
const PYTHON = 'python3';
const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 11))';
const absent = process.env.CI === undefined && spawnSync(PYTHON, ['-c', OLDEST]).status !== 0;
const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  PYTHONPATH: FOLDER,
  PYTHONDONTWRITEBYTECODE: '1',
  ...more,
});

const LIVE = `
import os
from underround import Underround
client = Underround(os.environ["UNDERROUND_URL"], os.environ["UNDERROUND_API_KEY"])
for message in client.stream(market_ids=["${QUICK_MARKET}"]):
    if message["type"] == "snapshot":
        print(int(message["yes_bids"][0]["size"]), flush=True)
        if message["yes_bids"][0]["size"] == 4:
            break
`;

describe.skipIf(absent)(`the Python client ${absent ? '(skipped: no Python 3.11)' : ''}`, () => {
  let store: TestStore;
  let folder: string;
  beforeAll(async () => {
    store = await quickStartStore();
    folder = temporaryDirectory(afterAll);
  });
  afterAll(() => store?.dispose());
  const run = (words: readonly string[], settings: Record<string, string> = {}) => {
    const options = { cwd: folder, env: environment(settings), timeout: WAIT_MS_MAX };
    return promisify(execFile)(PYTHON, words, options);
  };
  const settingsOf = (rig: StreamRig) => ({
    ...{ UNDERROUND_URL: `http://${rig.url}`, UNDERROUND_API_KEY: 'premium' },
  });

  it('passes its own tests, and its types can be loaded', async () => {
    const tests = await run(['-W', 'error', '-m', 'unittest', 'discover', '-s', join(FOLDER, 'tests')]);
    expect(tests.stderr).toMatch(/Ran \d\d tests in .*\n\nOK\n$/);
    const types = 'import typing, underround._types as t; print(typing.get_type_hints(t.Market)["coverage"])';
    expect((await run(['-c', types])).stdout).toBe("<class 'float'>\n");
  });

  it('reads as times the columns of exports that are times', async () => {
    const columns = Object.values(EXPORT_COLUMNS).flat();
    const times = new Set(columns.filter(({ kind }) => kind === 'time').map(({ name }) => name));
    expect(columns.filter(({ name, kind }) => times.has(name) && kind !== 'time')).toEqual([]);
    const print = 'from underround._client import EXPORT_TIMES; print(*sorted(EXPORT_TIMES))';
    expect((await run(['-c', print])).stdout.trim().split(' ')).toEqual([...times].toSorted());
  });

  it('runs the quick start of its page', async () => {
    const rig = await new StreamRig().start({ store: store.store });
    writeFileSync(join(folder, 'quick_start.py'), exampleOf('clients/python/README.md', 'python'));
    const { stdout } = await run(['quick_start.py'], settingsOf(rig));
    expect(stdout.split('\n')).toEqual([...QUICK_LINES, '']);
  });

  it('receives the live stream of the service', async () => {
    const rig = await new StreamRig().start();
    rig.recorder.list({ marketId: QUICK_MARKET });
    rig.recorder.change(QUICK_MARKET, 1);
    const child = spawn(PYTHON, ['-c', LIVE], { env: environment(settingsOf(rig)) });
    onTestFinished(() => void child.kill());
    const ended = once(child, 'exit');
    const sizes: number[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      sizes.push(Number(line));
      if (sizes.length < 4) rig.recorder.change(QUICK_MARKET, sizes.length + 1);
    }
    expect([sizes, await ended]).toEqual([
      [1, 2, 3, 4],
      [0, null],
    ]);
  });

  it('raises the refusal of the service', async () => {
    const rig = await new StreamRig().start({ store: store.store });
    const program = LIVE.replace('for message in', 'client.market("0xdead")\nfor message in');
    const refused = await run(['-c', program], settingsOf(rig)).catch((error) => error);
    expect(refused.stderr).toMatch(/underround\._errors\.ApiError: .* \(404\)\n$/);
  });
});
