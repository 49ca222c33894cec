import { expect, it } from 'vitest';
import { answerFor } from './recordedAnswers.ts';

const DEPTH = '/app/perp/depth?ticker=BTC&start=2026-11-23T13%3A11%3A00.000Z';
const ANSWERS = {
  [`${DEPTH}&limit=1`]: 'one',
  [`${DEPTH}&limit=190`]: 'many',
  '/app/state': 'state',
};

it.each([
  ['the same request', `${DEPTH}&limit=190`, 'many'],
  ['another time', '/app/perp/depth?ticker=BTC&start=2026-11-23T13%3A12%3A00.000Z&limit=190', 'many'],
  ['another order', `/app/perp/depth?limit=190&ticker=BTC&start=2026-11-23T13%3A12%3A00.000Z`, 'many'],
  ['another limit', `${DEPTH}&limit=10`, undefined],
  ['a parameter more', `${DEPTH}&limit=1&venue=okx`, undefined],
  ['a parameter less', DEPTH, undefined],
  ['no query', '/app/state', 'state'],
  ['another path', '/app/me', undefined],
])('a recording answers %s only as recorded', (_what, request, answer) => {
  expect(answerFor(ANSWERS, request)).toBe(answer);
});
