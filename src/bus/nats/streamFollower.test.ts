import { describe, expect, it } from 'vitest';
import { openCluster } from '../../../test/support/natsCluster.ts';
import { natsAbsent, startNats } from '../../../test/support/natsServer.ts';
import { eventually } from '../../../test/support/runningService.ts';
import { tradeOf } from '../../../test/support/streamTrades.ts';
import type { StreamPlace } from '../recordStream.ts';

describe.skipIf(natsAbsent)('a follower (skipped without nats-server)', () => {
  it.each([
    ['has the number that it had', 0, false],
    ['was replaced', -2, true],
  ])(
    'that begins behind a message knows by its time whether it %s',
    async (_, differenceMs, isRenumbered) => {
      const { stream, ready } = await openCluster((await startNats()).url);
      await ready;
      const places: StreamPlace[] = [];
      const first = await stream.follow({ fromSeq: 0 }, (_message, place) => void places.push(place));
      for (const tradeId of ['t1', 't2']) stream.publish(tradeOf('market', tradeId));
      const [handled, next] = await eventually('two messages', async () => places.length === 2 && places);
      await first.stop();
      const { streamSeq, timeMs } = handled as StreamPlace;
      const later: StreamPlace[] = [];
      await stream.follow(
        { fromSeq: streamSeq + 1, after: { streamSeq, timeMs: timeMs + differenceMs } },
        (_message, place) => void later.push(place),
      );
      await eventually('the second message', async () => later.length > 0);
      const marks = isRenumbered ? { isAfterLoss: true, isRenumbered: true } : {};
      expect(later).toEqual([{ ...next, ...marks }]);
    },
  );
});
