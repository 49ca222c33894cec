import { expect, it } from 'vitest';
import { HashCheck } from './hashCheck.ts';
import { type HashContext, TokenBook } from './tokenBook.ts';

/** A check of two books that verify with one tick size alone, which `accept` changes, and perhaps with one trade alone. */
function checked(trade: string | null = null, known = '0.01') {
  let accepted: string | null = '0.01';
  const verify = ({ tickSize }: HashContext, lastTradePrice: string) =>
    tickSize === accepted && (trade === null || trade === lastTradePrice);
  const book = (tokenId: string) => Object.assign(new TokenBook(tokenId), { verify });
  const context: HashContext = {
    ...{ marketId: '0x1', minOrderSize: '5', negRisk: false, version: null },
    ...{ tickSize: known, lastTradePrice: '0.500' },
  };
  const [yes, no] = [book('1'), book('2')];
  const check = new HashCheck({ context, yes, no }, true);
  const accept = (tickSize: string | null) => {
    accepted = tickSize;
  };
  return { check, context, yes, no, accept };
}

it.each([
  ['yes', false],
  ['no', false],
  ['neither', true],
])('verifies the books of both tokens: wrong is %s', (wrong, isVerified) => {
  const { check, yes, no } = checked();
  for (const [name, book] of Object.entries({ yes, no })) if (name === wrong) book.verify = () => false;
  const isProven = [check.recipeProven, check.verify('0.500'), check.recipeProven];
  expect(isProven).toEqual([false, isVerified, isVerified]);
});

it('tries the replaced tick size until a hash verifies, and not afterwards', () => {
  const { check, accept } = checked();
  check.tickReplaced('0.1');
  accept('0.1');
  expect(check.verifyWithOtherInputs()).toBe(true);
  expect(check.verifyWithOtherInputs()).toBe(false);
});

it('tries the replaced tick size together with the price of an unseen trade', () => {
  const { check, context, accept } = checked('0.410');
  check.tickReplaced('0.1');
  accept('0.1');
  check.guesses.note(4_100);
  expect(check.verifyWithOtherInputs()).toBe(true);
  expect(context).toMatchObject({ tickSize: '0.01', lastTradePrice: '0.410' });
});

it.each([
  ['0.1', '0.01', '0.1'],
  ['0.01', '0.001', '0.001'],
  ['0.001', '0.0001', '0.0001'],
])('with a tick size of %s, hashes of %s make it %s', (known, hashed, found) => {
  const { check, context, accept } = checked(null, known);
  accept(hashed);
  expect([check.verifyWithOtherInputs(), context.tickSize]).toEqual([found === hashed, found]);
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

it('does not refute the recipe by three snapshots of which one between them verifies', () => {
  const { check, yes, accept } = checked();
  const judged = [null, null, '0.01', null, null, null].map((tickSize) => {
    accept(tickSize);
    check.judgeSnapshot(yes, '0.500');
    return [check.recipeRefuted, check.recipeProven];
  });
  expect(judged).toEqual([[false, false], [false, false], ...Array(3).fill([false, true]), [true, false]]);
});

it('keeps the price of an unseen trade that verifies as the last trade', () => {
  const { check, context } = checked('0.410');
  check.guesses.note(4_000);
  check.guesses.note(4_100);
  expect(check.verify('0.500')).toBe(false);
  expect(check.verifyWithOtherInputs()).toBe(true);
  expect(context.lastTradePrice).toBe('0.410');
});
