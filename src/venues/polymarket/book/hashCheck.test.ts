import { expect, it } from 'vitest';
import { HashCheck } from './hashCheck.ts';
import { type HashContext, TokenBook } from './tokenBook.ts';

/** A check of two books that verify with one tick size alone, which `accept` changes. */
function checked() {
  let accepted: string | null = '0.01';
  const book = (tokenId: string) =>
    Object.assign(new TokenBook(tokenId), { verify: ({ tickSize }: HashContext) => tickSize === accepted });
  const context: HashContext = {
    ...{ marketId: '0x1', minOrderSize: '5', negRisk: false, version: null },
    ...{ tickSize: '0.01', lastTradePrice: '0.500' },
  };
  const [yes, no] = [book('1'), book('2')];
  const check = new HashCheck({ context, yes, no }, true);
  const accept = (tickSize: string | null) => {
    accepted = tickSize;
  };
  return { check, yes, accept };
}

it('tries the replaced tick size until a hash verifies, and not afterwards', () => {
  const { check, accept } = checked();
  check.tickReplaced('0.1');
  accept('0.1');
  expect(check.verifyWithOtherInputs()).toBe(true);
  expect(check.verifyWithOtherInputs()).toBe(false);
});

it('refutes the recipe after three whole snapshots in a row that do not verify', () => {
  const { check, yes, accept } = checked();
  accept(null);
  const refuted = [1, 2, 3].map(() => {
    check.judgeSnapshot(yes, '0.500');
    return check.recipeRefuted;
  });
  expect(refuted).toEqual([false, false, true]);
});
