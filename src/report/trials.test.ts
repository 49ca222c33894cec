import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { type Trial, TrialsFile } from './trials.ts';

const NOW = Date.UTC(2026, 10, 23);
const trial = (question: number, changed: Partial<Trial> = {}): Trial => ({
  ...{ series: 'BTC 5m', question: { threshold: question }, dataHash: 'd', trials: 10 },
  ...changed,
});
const newFile = () => new TrialsFile(join(temporaryDirectory(), 'new', 'trials.jsonl'));

test('trials of one series add up, each question once, other series not', () => {
  const file = newFile();
  expect(file.before(trial(1))).toBe(0);
  file.add(trial(1), NOW);
  file.add(trial(2, { trials: 5 }), NOW);
  file.add(trial(2, { trials: 5 }), NOW);
  file.add(trial(3, { series: 'ETH 5m' }), NOW);
  expect(file.before(trial(9))).toBe(15);
  expect(new TrialsFile(file.path).before(trial(9, { series: 'ETH 5m' }))).toBe(10);
});

test('a repeated question has the same count as the first time, and counts again on other data', () => {
  const file = newFile();
  for (const question of [1, 2, 3]) file.add(trial(question), NOW);
  expect([1, 2, 3].map((question) => file.before(trial(question)))).toEqual([0, 10, 20]);
  expect(file.before(trial(1, { dataHash: 'newer' }))).toBe(30);
});

test('lines are appended, one JSON object each', () => {
  const file = newFile();
  file.add(trial(1), NOW);
  const before = readFileSync(file.path, 'utf8');
  file.add(trial(2), NOW);
  const after = readFileSync(file.path, 'utf8');
  expect(after.startsWith(before)).toBe(true);
  expect(JSON.parse(before)).toEqual({
    ...{ at: '2026-11-23T00:00:00.000+00:00', series: 'BTC 5m', trials: 10, data_hash: 'd' },
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('a damaged line is an error and never fewer trials', () => {
  const file = newFile();
  file.add(trial(1), NOW);
  writeFileSync(file.path, `${readFileSync(file.path, 'utf8')}{"series":"BTC 5m"`);
  expect(() => file.before(trial(2))).toThrow(
    `trials file ${file.path}: line 2 is not a trial; correct or remove it`,
  );
});

test('a file that cannot be written is an error', () => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, '');
  expect(() => new TrialsFile(join(path, 'trials.jsonl')).add(trial(1), NOW)).toThrow(
    /^trials file .* is a file$/,
  );
  expect(() => new TrialsFile(temporaryDirectory()).before(trial(1))).toThrow(
    /^trials file .*: it is a directory, not a file$/,
  );
});
