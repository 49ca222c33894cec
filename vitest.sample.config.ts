import { defineConfig } from 'vitest/config';
import { base } from './vitest.config.ts';

/** The tests among which `npm run mutants:sample` looks for one that notices a fault: patterns separated by blanks. */
const tests = process.env.SAMPLE_TESTS?.split(' ');
if (tests === undefined) throw new Error('SAMPLE_TESTS is missing: use `npm run mutants:sample`');

/** Faults make tests wait in vain: shorter limits than the suite's, and many times what these tests take. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

export default defineConfig({ ...base, plugins: [], test: { ...base.test, ...limits, include: tests } });
