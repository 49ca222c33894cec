/** Usage: npm run fuzz -- --target clob --seconds 60 [--seed 1]; without a target every one in turn. */
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/runtime/clock.ts';
import { fuzz } from './fuzzRun.ts';
import { FUZZ_TARGETS } from './targets.ts';

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const targets = FUZZ_TARGETS.filter(({ name }) => values.target === undefined || name === values.target);
if (targets.length === 0)
  throw new Error(`no target ${values.target}; there are ${FUZZ_TARGETS.map(({ name }) => name).join(', ')}`);

for (const target of targets) {
  const endsAt = systemClock.monotonic() + 1000 * Number(values.seconds);
  const { executions, blocks, failure } = await fuzz(target, {
    seed: values.seed,
    goesOn: () => systemClock.monotonic() < endsAt,
  });
  say(`${target.name}: ${executions} executions, ${blocks} blocks${failure === null ? '' : ', FAILED'}`);
  if (failure === null) continue;
  process.exitCode = 1;
  say(`  ${JSON.stringify(failure.input.toString('utf8'))}`);
  say(`  base64:${failure.input.toString('base64')}`);
  say(`  ${failure.error instanceof Error ? failure.error.stack : failure.error}`);
}
process.exit();
