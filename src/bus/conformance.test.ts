import { MemoryStreamServer } from '../../test/support/memoryStream.ts';
import { openCluster } from '../../test/support/natsCluster.ts';
import { natsAbsent, startNats } from '../../test/support/natsServer.ts';
import { describeRecordStream } from '../../test/support/streamConformance.ts';
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
