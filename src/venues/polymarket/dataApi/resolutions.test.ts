import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue } from '../../../../test/support/localVenue.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { HttpClient } from '../../http.ts';
import { DataApi, mapResolutions } from './resolutions.ts';

/** The answer of 2026-10-05, with a V2 condition id. */
const ROW = {
  condition_id: '0x017791f201d5a788e0039e511fc1900e5f000000000000000000000000000000',
  status: 'resolved',
  extended_review: false,
  was_disputed: false,
  new_version_q: false,
  transaction_hash: '',
  log_index: '',
  last_update_timestamp: '2026-10-05T21:35:56Z',
  market_type: 'BINARY',
  payouts: [1_000_000, 0],
  resolution_source: 'reported',
  reporter: 'CHAINLINK',
  was_arbitrated: false,
  resolved_block: 95_020_670,
  resolved_at: '2026-10-05T21:35:56Z',
};

describe('mapResolutions', () => {
  const map = (...rows: unknown[]) => mapResolutions({ data: rows, pagination: { has_more: false } });

  test.each([
    [[1_000_000, 0], 1],
    [[0, 1_000_000], 0],
    [[500_000, 500_000], 0.5],
  ])('reads payouts %j', (payouts, firstPayout) => {
    expect(map({ ...ROW, payouts })).toEqual({
      final: [{ marketId: ROW.condition_id, firstPayout, resolvedTimeMs: Date.UTC(2026, 9, 5, 21, 35, 56) }],
      unusable: [],
    });
  });

  test('reads an id in capitals and a missing time', () => {
    const odd = { ...ROW, condition_id: ROW.condition_id.replace('791f', '791F'), resolved_at: null };
    expect(map(odd).final).toEqual([{ marketId: ROW.condition_id, firstPayout: 1, resolvedTimeMs: null }]);
  });

  test.each(['initialized', 'posed', 'proposed', 'challenged', 'disputed', 'active', 'arbitration', 'new'])(
    'takes no outcome from the status %s, whatever the payouts',
    (status) => {
      expect(map({ ...ROW, status })).toEqual({ final: [], unusable: [] });
    },
  );

  test.each([
    ['no payouts, as of the UMA oracle', { ...ROW, payouts: null, price: '1' }],
    ['three payouts', { ...ROW, payouts: [1_000_000, 0, 0] }],
    ['one payout', { ...ROW, payouts: [1_000_000] }],
    ['payouts that are not whole', { ...ROW, payouts: [700_000, 300_000] }],
    ['payouts of more than one dollar', { ...ROW, payouts: [1_000_000, 1_000_000] }],
    ['nothing paid', { ...ROW, payouts: [0, 0] }],
    ['payouts as text', { ...ROW, payouts: ['1000000', '0'] }],
    ['a short id', { ...ROW, condition_id: '0x0177' }],
    ['an id of 62 digits', { ...ROW, condition_id: ROW.condition_id.slice(0, 64) }],
    ['no row at all', 'resolved'],
  ])('sets aside %s', (_shows, row) => {
    const { final, unusable } = map(row, ROW);
    expect(final).toHaveLength(1);
    expect(unusable).toEqual([JSON.stringify(row).slice(0, 300)]);
  });

  test.each([[{}], [[]], [null], [{ data: null }]])('rejects %j', (body) => {
    expect(() => mapResolutions(body)).toThrow(VenueMessageError);
    expect(() => mapResolutions(body)).toThrow(/^data api resolutions: /);
  });
});

describe('DataApi', () => {
  let venue: LocalVenue;
  let http: HttpClient;
  let api: DataApi;
  beforeEach(async () => {
    venue = await LocalVenue.start();
    const common = { clock: new FakeClock(), random: () => 0, log: silentLogger, metrics: new Metrics() };
    http = new HttpClient({ ...common, feed: 'polymarket.data' });
    api = new DataApi({ url: `${venue.httpUrl}/data`, http });
  });
  afterEach(async () => {
    await http.close();
    await venue.stop();
  });

  test('names all conditions in one request', async () => {
    venue.answerJson({ data: [ROW] });
    const other = `0x${'ab'.repeat(32)}`;
    expect((await api.resolutions([ROW.condition_id, other])).final).toHaveLength(1);
    expect(venue.requests.map(({ url }) => url)).toEqual([
      `/data/v2/resolutions?condition=${ROW.condition_id},${other}`,
    ]);
  });

  test('fails where the interface does not exist', async () => {
    venue.answerJson({ error: 'not found' }, 404);
    await expect(api.resolutions([ROW.condition_id])).rejects.toThrow(
      new VenueMessageError('polymarket.data: there is no /v2/resolutions'),
    );
  });
});
