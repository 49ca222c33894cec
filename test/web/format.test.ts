import { describe, expect, it } from 'vitest';
import {
  assetPrice,
  bytes,
  cents,
  duration,
  moment,
  number,
  percent,
  sizeFormat,
  usd,
  visibleName,
  withSign,
} from '../../web/src/ui/format.ts';

describe('numbers on pages', () => {
  it.each([
    ['a price of a whole cent', cents(0.53), '53.0¢'],
    ['the smallest tick', cents(0.001), '0.1¢'],
    ['an average price', cents(0.53456, 2), '53.46¢'],
    ['a loss in cents', cents(-0.02), '−2.0¢'],
    ['a loss', usd(-1234.5), '−$1,234.50'],
    ['a falling share', percent(-0.125), '−12.5\u00a0%'],
    ['a negative number', number(-1.234), '−1.23'],
    ['a negative number of fixed digits', number(-1.25, 3), '−1.250'],
    ['a change of a cheap asset', assetPrice(-0.25), '−$0.25000'],
    ['a change of a dear asset', assetPrice(-250.5), '−$250.50'],
    ['a gain', withSign(1.5, usd), '+$1.50'],
    ['no gain', withSign(0, usd), '$0.00'],
    ['a loss with its sign', withSign(-0.5, percent), '−50.0\u00a0%'],
    ['a rounded zero', withSign(-0.001, usd), '$0.00'],
    ['a missing value', withSign(null, usd), '–'],
  ])('%s', (_, shown, wanted) => expect(shown).toBe(wanted));

  it.each([
    ['all with one decimal', [84.76, 78, 1085.34, 0.4, 0], ['84.8', '78.0', '1,085.3', '0.4', '0.0']],
    ['a size that would be rounded to none', [0.04, 7], ['<0.1', '7.0']],
    ['whole from ten thousand on', [12_345.6, 78.4, 0.3], ['12,346', '78', '<1']],
    ['none at all', [], []],
  ])('sizes of a column have one format: %s', (_, sizes, shown) => {
    expect(sizes.map(sizeFormat(sizes))).toEqual(shown);
  });

  it.each([
    ['2026-11-26T01:51:36.999Z', '26 Nov, 01:51:36'],
    ['2026-01-01T00:00:00Z', '01 Jan, 00:00:00'],
    ['2025-12-31T23:59:59Z', '31 Dec 2025, 23:59:59'],
    ['2027-01-01T00:00:00Z', '01 Jan 2027, 00:00:00'],
    [null, '–'],
  ])('the time %s, seen in 2026, is %s', (time, shown) =>
    expect(moment(time, Date.UTC(2026, 10, 26))).toBe(shown),
  );

  it.each([
    ['x', 'x'],
    ['👍', '👍'],
    ['   ', 'ps_1'],
    ['\u200b', 'ps_1'],
  ])('a name of %j is shown as %s', (name, shown) => expect(visibleName(name, 'ps_1')).toBe(shown));

  it.each([
    [bytes(0), '0 B'],
    [bytes(999), '999 B'],
    [bytes(1_500_000_000), '1.5 GB'],
    [duration(7200), '2 h'],
    [duration(259_200), '3 days'],
  ])('%s', (shown, wanted) => expect(shown).toBe(wanted));
});
