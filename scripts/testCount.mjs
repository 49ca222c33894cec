// Prints one line `N passed, N failed[, N skipped]` from the JSON results of the test runner. A test file that
// could not be loaded counts as one failed test, so that the line never looks better than the run.
import { readFileSync } from 'node:fs';

const text = readFileSync(process.argv[2], 'utf8');
if (text === '') {
  console.error('the test runner wrote no results');
  process.exit(1);
}
const results = JSON.parse(text);
const unloaded = results.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const failed = results.numFailedTests + unloaded.length;
const skipped = results.numPendingTests + results.numTodoTests;
console.log(`${results.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
