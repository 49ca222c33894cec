import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { TooManySendsError } from '../../runtime/errors.ts';
import { SendQuotas, TESTS_PER_MINUTE } from './sendQuotas.ts';

test('a user at the limit of a minute is refused, and the seconds to wait are rounded up', async () => {
  const clock = new FakeClock();
  const quotas = new SendQuotas(clock);
  expect(quotas.consume('test', 'u1', TESTS_PER_MINUTE + 5)).toBe(TESTS_PER_MINUTE);
  const refusal = (seconds: number) =>
    new TooManySendsError(`At most ${TESTS_PER_MINUTE} test events a minute are sent`, seconds);
  await clock.advance(58_999);
  expect(() => quotas.check('test', 'u1')).toThrow(refusal(2));
  await clock.advance(1_000);
  expect(() => quotas.check('test', 'u1')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
  await clock.advance(1);
  quotas.check('test', 'u1');
  quotas.check('test', 'u2');
  quotas.check('redelivery', 'u1');
});

test('a user at the limit stays there though thousands of others send meanwhile', () => {
  const quotas = new SendQuotas(new FakeClock());
  quotas.consume('test', 'u1', TESTS_PER_MINUTE);
  for (let n = 2; n <= 10_000; n++) quotas.consume('test', `u${n}`, 1);
  expect(() => quotas.check('test', 'u1')).toThrow(TooManySendsError);
});
