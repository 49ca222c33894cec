import { describe, expect, it } from 'vitest';
import { fuzz } from './fuzzRun.ts';
import { FUZZ_TARGETS } from './targets.ts';

/** Requests cost more than parsers. */
const EXECUTIONS: Readonly<Record<string, number>> = { query: 200, body: 200, import: 200 };
const EXECUTIONS_OF_OTHERS = 1_000;

describe('every parser', () => {
  it.each(FUZZ_TARGETS.map((target) => [target.name, target] as const))(
    '%s fails only as promised, on its corpus and on inputs made from it',
    async (name, target) => {
      const wanted = EXECUTIONS[name] ?? EXECUTIONS_OF_OTHERS;
      const { executions, failure } = await fuzz(target, { seed: 'suite', goesOn: (done) => done < wanted });
      const input = failure === null ? null : `base64:${failure.input.toString('base64')}`;
      expect({ input, error: failure?.error ?? null }).toEqual({ input: null, error: null });
      expect(executions).toBeGreaterThanOrEqual(wanted);
    },
  );

  it('that throws something else is found, with the input', async () => {
    const target = {
      name: 'cursor',
      run: (input: Buffer) => {
        if (input.length > 3) throw new TypeError('too long');
      },
    };
    const { failure } = await fuzz(target, { seed: '1', goesOn: () => true });
    expect(failure?.error).toEqual(new TypeError('too long'));
    expect(failure?.input.length).toBeGreaterThan(3);
  });
});
