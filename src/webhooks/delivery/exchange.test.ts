import { expect, test } from 'vitest';
import { Exchange, type Reply } from './exchange.ts';

test('the end of a request is reported once, whatever follows it', () => {
  const ends: (Reply | Error)[] = [];
  const exchange = new Exchange((end) => void ends.push(end));
  const late = new Error('late');
  exchange.abort(late);
  exchange.onResponseEnd();
  exchange.onResponseError(null, new Error('closed'));
  expect(ends).toEqual([late]);
});
