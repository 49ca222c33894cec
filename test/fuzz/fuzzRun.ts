import { readFileSync } from 'node:fs';
import { Random } from '../../src/core/random.ts';
import { Coverage } from './coverage.ts';
import { mutate } from './mutate.ts';
import type { FuzzTarget } from './target.ts';

/** Inputs between two looks at the coverage. */
const BATCH = 200;
const CORPUS_MAX = 2_000;
/** Share of a batch that is kept when it reached new code. */
const KEPT = 0.1;

interface FuzzResult {
  readonly executions: number;
  /** Blocks of code that mutated inputs ran and the corpus did not. */
  readonly blocks: number;
  readonly failure: { readonly input: Buffer; readonly error: unknown } | null;
}

/** The committed inputs of a target, one JSON text each; binary ones begin with `base64:`. */
function corpusOf(name: string): Buffer[] {
  const file = new URL(`corpus/${name}.json`, import.meta.url);
  const texts = JSON.parse(readFileSync(file, 'utf8')) as string[];
  return texts.map((text) =>
    text.startsWith('base64:') ? Buffer.from(text.slice('base64:'.length), 'base64') : Buffer.from(text),
  );
}

/** Runs the corpus, then mutated inputs until `goesOn` says no; an input that reaches new code joins the corpus. */
export async function fuzz(
  target: FuzzTarget,
  { seed, goesOn }: { seed: string; goesOn: (executions: number) => boolean },
): Promise<FuzzResult> {
  const corpus = corpusOf(target.name);
  const random = new Random(`${target.name} ${seed}`);
  const coverage = new Coverage();
  let [executions, corpusBlocks] = [0, 0];
  const result = (failure: FuzzResult['failure']) => ({
    executions,
    blocks: coverage.blocks - corpusBlocks,
    failure,
  });
  coverage.start();
  try {
    for (const input of corpus) {
      const error = await failureOf(target, input);
      executions++;
      if (error !== null) return result({ input, error: error.cause });
    }
    coverage.takeNew();
    corpusBlocks = coverage.blocks;
    while (goesOn(executions)) {
      const batch = Array.from({ length: BATCH }, () => mutate(corpus, random));
      for (const input of batch) {
        const error = await failureOf(target, input);
        executions++;
        if (error !== null) return result({ input, error: error.cause });
      }
      if (coverage.takeNew() === 0 || corpus.length >= CORPUS_MAX) continue;
      // Some input of the batch reached new code: a sample of it joins the corpus.
      corpus.push(...batch.filter(() => random.chance(KEPT)));
    }
    return result(null);
  } finally {
    coverage.stop();
  }
}

async function failureOf(target: FuzzTarget, input: Buffer): Promise<{ cause: unknown } | null> {
  try {
    await target.run(input);
    return null;
  } catch (cause) {
    return { cause };
  }
}
