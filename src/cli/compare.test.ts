import { expect, test } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { RUN_CONTEXT, randomRun } from '../../test/support/runResults.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { reportOf } from '../report/runReport.ts';
import { writeReport } from '../report/writeReport.ts';
import { registerCompare } from './compare.ts';

const { runWhole } = commandLine(registerCompare);

function written(seed: string, dataHash = RUN_CONTEXT.receipt.data_hash): string {
  const directory = temporaryDirectory();
  const receipt = { ...RUN_CONTEXT.receipt, data_hash: dataHash };
  writeReport(
    directory,
    reportOf(randomRun(seed, { markets: 120 }), { ...RUN_CONTEXT, name: seed, receipt }),
  );
  return directory;
}

test('compare prints tables and what may be concluded', async () => {
  const { out, err, exit } = await runWhole('compare', written('a'), written('b'));
  expect({ err, exit, lines: out.length }).toEqual({ err: [], exit: undefined, lines: 1 });
  expect(out[0]).toMatch(/^name +a +b$/m);
  expect(out[0]).toMatch(/^difference, 95 % +-?[\d.]+ to -?[\d.]+ USD, paired block bootstrap$/m);
  expect(out[0]).toMatch(/^test +paired t-test on means of blocks of \d markets, two-sided$/m);
  expect(out[0]).toMatch(/^(?:No difference can be concluded|[AB] \([ab]\) earned more)/m);
});

test('compare --json prints one object', async () => {
  const { out } = await runWhole('compare', written('a'), written('b'), '--json');
  expect(JSON.parse(out[0] ?? '')).toMatchObject({
    a: { name: 'a' },
    same_data: true,
    conclusion: expect.any(Array),
  });
});

test('compare refuses runs over different data without --force, and says it with --force', async () => {
  const [a, b] = [written('a'), written('b', 'e'.repeat(64))];
  const refused = await runWhole('compare', a, b);
  expect(refused).toMatchObject({ out: [], exit: 1 });
  expect(refused.err).toEqual([
    'underround: the two read different data (dddddddddddddddd and eeeeeeeeeeeeeeee); use --force to compare them',
  ]);
  const forced = await runWhole('compare', a, b, '--force');
  expect(forced.out[0]).toMatch(
    /The two runs read different data\. Part of the difference may come from the data/,
  );
});
