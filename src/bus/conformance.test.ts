import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemoryStreamServer } from '../../test/support/memoryStream.ts';
import { openCluster } from '../../test/support/natsCluster.ts';
import { natsAbsent, startNats } from '../../test/support/natsServer.ts';
import { describeRecordStream } from '../../test/support/streamConformance.ts';
import { numbered, tradeIdOf, tradeOf } from '../../test/support/streamTrades.ts';
import { systemClock } from '../runtime/clock.ts';

describeRecordStream('in memory', async () => {
  const server = new MemoryStreamServer({ clock: systemClock });
  return { connect: async () => server.connect(), stop: async () => undefined };
});

describeRecordStream(
  natsAbsent ? 'NATS JetStream (skipped: nats-server is not installed)' : 'NATS JetStream',
  async () => {
    const ends: (() => Promise<void>)[] = [];
    const server = await startNats({ whenOver: (end) => ends.unshift(end) });
    return {
      connect: async () => {
        const cluster = await openCluster(server.url, { whenOver: (end) => ends.unshift(end) });
        await cluster.ready;
        return cluster.stream;
      },
      stop: async () => {
        for (const end of ends) await end();
      },
    };
  },
  natsAbsent,
);

it('in memory, messages wait while the stream is away, and a reader passes over forgotten ones', async () => {
  const server = new MemoryStreamServer({ clock: new FakeClock() });
  const stream = server.connect();
  for (const tradeId of numbered(1, 4)) stream.publish(tradeOf('market', tradeId));
  server.forgetBefore(3);
  server.setAway(true);
  expect(stream.reasons()).toEqual(['the stream does not answer']);
  stream.publish(tradeOf('market', 't5'));
  const ids: string[] = [];
  await stream.follow({ fromSeq: 1 }, (message) => ids.push(tradeIdOf({ message })));
  await server.idle();
  expect(ids).toEqual([]);
  server.setAway(false);
  await server.idle();
  expect(ids).toEqual(numbered(3, 5));
  expect(server.stored.map(({ place }) => place.streamSeq)).toEqual([3, 4, 5]);
});
