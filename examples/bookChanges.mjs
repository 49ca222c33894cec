// Prints the newest order-book changes of the current 5-minute BTC market: time, best bid and ask, whether the state was proven.
const { BASE = 'http://127.0.0.1:8080', KEY } = process.env;

async function get(path) {
  const answer = await fetch(`${BASE}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status}: ${JSON.stringify(body.detail)}`);
  return body;
}

const { markets } = await get('/v1/markets?ticker=BTC&event_type=5m&status=open&limit=10');
const now = Date.now();
const current = markets.find(({ start_time }) => Date.parse(start_time) <= now);
if (current === undefined) throw new Error('no 5-minute BTC market is open now');
const { snapshots } = await get(`/v1/snapshots?market_id=${current.market_id}&limit=5&order=desc`);
console.log(current.slug);
for (const { ts, yes_bids, yes_asks, trusted } of snapshots)
  console.log(ts, 'bid', yes_bids[0]?.price ?? null, 'ask', yes_asks[0]?.price ?? null, 'proven', trusted);
