import { expect, test } from 'vitest';
import { opportunity } from '../../test/support/opportunity.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import type { Connection } from './connection.ts';
import { OpportunityStream } from './opportunityStream.ts';

const KEPT_MAX = 1_000;

/** Lets woken clients be served. */
const served = () => new Promise<void>((resolve) => setImmediate(resolve));

function rig() {
  let publish: (event: Opportunity) => void = () => {};
  const stream = new OpportunityStream({
    subscribe: (_topic: string, listener: (event: never) => void) => {
      publish = listener as typeof publish;
      return () => {};
    },
  } as never);
  const connect = (...tickers: string[]) => {
    const client = {
      ...{ isOpen: true, isPressed: false, sent: 0, closedBy: '', onDrained: () => {} },
      sendFrame: () => void client.sent++,
      close: (cause: string) => {
        client.closedBy = cause;
        client.isOpen = false;
      },
    };
    stream.add(client as unknown as Connection, tickers);
    return client;
  };
  const publishAll = (count: number) => {
    for (let n = 0; n < count; n++) publish(opportunity({ nowMs: 0, n }, { ticker: 'BTC' }));
  };
  return { connect, publishAll };
}

test('a client gets the opportunities of its assets from its connection on', async () => {
  const { connect, publishAll } = rig();
  const first = connect('BTC', 'ETH');
  const other = connect('ETH');
  publishAll(2);
  await served();
  const late = connect('BTC');
  publishAll(1);
  await served();
  expect([first.sent, other.sent, late.sent]).toEqual([3, 0, 1]);
});

test.each([
  [KEPT_MAX, KEPT_MAX, ''],
  [KEPT_MAX + 1, 0, 'slow'],
])('a client that is %i opportunities behind gets %i of them', async (behind, sent, closedBy) => {
  const { connect, publishAll } = rig();
  publishAll(1);
  const client = connect('BTC');
  client.isPressed = true;
  publishAll(behind);
  client.isPressed = false;
  client.onDrained();
  await served();
  expect([client.sent, client.closedBy]).toEqual([sent, closedBy]);
});
