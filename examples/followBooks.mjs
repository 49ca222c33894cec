// Prints live order-book changes of all 5-minute markets and ends after ten of them.
const { BASE = 'http://127.0.0.1:8080', KEY } = process.env;
const CHANGES = 10;

// A WebSocket made by a browser, or by Node itself, cannot set headers, so the key goes into the address.
const socket = new WebSocket(`${BASE.replace(/^http/, 'ws')}/v1/stream?api_key=${KEY}`);
let received = 0;

socket.addEventListener('open', () =>
  socket.send(JSON.stringify({ type: 'subscribe', event_types: ['5m'] })),
);
socket.addEventListener('message', ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === 'ping') socket.send(JSON.stringify({ type: 'pong' }));
  if (message.type !== 'snapshot') return;
  console.log(
    message.ts,
    message.market_id.slice(0, 10),
    message.yes_bids[0]?.price,
    message.yes_asks[0]?.price,
  );
  received++;
  if (received === CHANGES) socket.close();
});
socket.addEventListener('close', ({ code }) => {
  if (received < CHANGES) throw new Error(`the stream ended with code ${code} after ${received} changes`);
});
