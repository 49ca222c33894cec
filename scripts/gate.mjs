// Runs the checks and one or more test runs, each by its command; the exit status is 0 only if all succeed. At the end
// it prints each failed test with the start of its message, then one line `N passed, N failed[, N skipped]` that counts
// the tests of all runs.
// Usage: node scripts/gate.mjs [--minutes N] CHECKS RUNNER [RUNNER...]
// A runner's status and its results must agree. An error outside any test, a test that never ended, a run without
// results and a run that exceeds the minutes each count as a failed test.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

/** Many times the duration of a run on two cores, so that it ends only a hanging run. */
const MINUTES_MAX = 180;
/** Time for the runner to shut down after a signal. */
const GRACE_MS = 10_000;
const SIGNALS = ['SIGINT', 'SIGTERM'];
/** The statuses of tests in the runner's results; a test with any other has failed. */
const [PASSED, SKIPPED] = [['passed'], ['skipped', 'todo']];
/** Enough for an assertion, its difference and its place; a difference may have thousands of lines. */
const MESSAGE_CHARACTERS_MAX = 2_000;

const words = process.argv.slice(2);
const [, minutes] = words[0] === '--minutes' ? words.splice(0, 2) : ['', String(MINUTES_MAX)];
const [checks, ...runners] = words;
if (runners.length === 0 || !(Number(minutes) > 0)) {
  console.error('usage: node scripts/gate.mjs [--minutes N] CHECKS RUNNER [RUNNER...]');
  process.exit(2);
}
const folder = mkdtempSync(path.join(tmpdir(), 'underround-gate-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const sum = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
for (const [index, runner] of runners.entries()) {
  const file = path.join(folder, `results-${index}.json`);
  const status = await run(`${runner} --reporter=default --reporter=json --outputFile.json="${file}"`);
  const counts = judge(file, status);
  for (const kind of Object.keys(sum)) sum[kind] += counts[kind];
}
const checkStatus = await run(checks);
if (checkStatus !== 0) say(`the checks ended with status ${checkStatus}`);
for (const failure of failures) console.log(`failed: ${failure}\n`);
const { passed, failed, skipped } = sum;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 || checkStatus !== 0 ? 1 : 0;

/** The exit status of a shell command, as a shell reports it; all child processes of the command end with it. */
function run(command) {
  return new Promise((resolve) => {
    let child = null;
    let interruption = null;
    const onSignal = (signal) => {
      interruption = signal;
      signalGroup(child.pid, signal);
      setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS).unref();
    };
    // Before the command starts: a signal that it sends at once would end only this process.
    for (const signal of SIGNALS) process.on(signal, onSignal);
    // The command leads its own process group, so that signals reach the whole group.
    child = spawn(command, { shell: true, stdio: 'inherit', detached: true });
    const limit = setTimeout(() => {
      say(`no end after ${minutes} minutes`);
      signalGroup(child.pid, 'SIGKILL');
    }, Number(minutes) * 60_000);
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      signalGroup(child.pid, 'SIGKILL');
      if (interruption !== null) process.exit(128 + constants.signals[interruption]);
      for (const name of SIGNALS) process.off(name, onSignal);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

function signalGroup(id, signal) {
  try {
    process.kill(-id, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Counts the tests of a run, so that the count never looks better than the run. */
function judge(file, status) {
  const counts = readCounts(file);
  if (counts === null) return { passed: 0, failed: 1, skipped: 0 };
  if (counts.failed === 0 && status !== 0) {
    say(`no test failed, but the test runner ended with status ${status}`);
    return { ...counts, failed: 1 };
  }
  if (counts.failed > 0 && status === 0) say('tests failed, but the test runner ended with status 0');
  if (counts.failed === 0 && counts.passed === 0) {
    say('no test ran');
    return { ...counts, failed: 1 };
  }
  return counts;
}

/** Counts the results that the runner wrote, and keeps the failures; null without results. */
function readCounts(file) {
  try {
    const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
    const failed = testResults.flatMap(failuresOf);
    failures.push(...failed);
    const tests = testResults.flatMap((module) => module.assertionResults);
    const count = (statuses) => tests.filter(({ status }) => statuses.includes(status)).length;
    return { passed: count(PASSED), failed: failed.length, skipped: count(SKIPPED) };
  } catch (error) {
    say(`the test runner wrote no results (${error.code ?? error.name})`);
    return null;
  }
}

/** The failed tests of a file, and the error of a file none of whose tests failed: the place and the start of the message. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = path.relative(process.cwd(), name ?? '');
  const texts = assertionResults
    .filter((test) => ![...PASSED, ...SKIPPED].includes(test.status))
    .map((test) => `${file}: ${test.fullName}\n${messageOf(test)}`);
  const isOwnError = status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  if (isOwnError) texts.push(`${file}\n${message}`);
  return texts.map((text) => text.slice(0, MESSAGE_CHARACTERS_MAX));
}

/** The runner writes a placeholder for the message of a test that ran longer than its limit. */
function messageOf({ failureMessages, status }) {
  const text = failureMessages?.join('\n') || `(${status})`;
  return text.replace('STACK_TRACE_ERROR', 'the test did not end within its time limit');
}

function say(line) {
  console.error(`gate: ${line}`);
}
