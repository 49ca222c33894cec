import { expect, test } from 'vitest';
import { isLate } from './lateness.ts';

test('a message is late if it arrives more than five seconds after the venue’s timestamp', () => {
  const late = [-1, 0, 5_000, 5_001].map((ms) => isLate({ eventTimeMs: 1_000, receivedTimeMs: 1_000 + ms }));
  expect(late).toEqual([false, false, false, true]);
});
