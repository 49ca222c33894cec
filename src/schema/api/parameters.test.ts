import { describe, expect, test } from 'vitest';
import { DEFAULT_TICKERS } from '../market.ts';
import { exportFields, exportSubject } from './exports.ts';
import { readFields } from './fields.ts';
import { marketId } from './parameters.ts';

const SHORT = `0x01${'ab'.repeat(16)}${'0'.repeat(28)}`;

describe('the market id of a request', () => {
  test.each([
    ['62 digits, as Gamma lists V2 markets', SHORT, `${SHORT}00`],
    ['64 digits', `${SHORT}00`, `${SHORT}00`],
    ['upper case', `0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
    ['anything else, which no market has', 'btc-updown', 'btc-updown'],
  ])('accepts %s', (_shows, asked, id) => {
    const read = readFields({ market_id: marketId }, { market_id: asked }, 'path');
    expect([read.values.market_id, read.problems]).toEqual([id, []]);
    const wanted = readFields(
      exportFields(DEFAULT_TICKERS),
      { dataset: 'trades', market_id: asked },
      'query',
    );
    expect(exportSubject(wanted.values)).toEqual({ dataset: 'trades', markets: { marketIds: [id] } });
  });
});
