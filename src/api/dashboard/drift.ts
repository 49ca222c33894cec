import type { z } from 'zod';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { driftShape } from '../../schema/api/accountResources.ts';
import { formatTime } from '../../schema/time.ts';

interface DriftDependencies {
  readonly metrics: Pick<Metrics, 'venueDrift'>;
  readonly clock: Clock;
}

/** Where the venues differ from the formats that this version knows. */
export function driftRoutes({ metrics, clock }: DriftDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/drift',
      auth: 'operator',
      access: { feature: null, duringMaintenance: true },
      summary: 'Fields, messages, hashes and topics of venues that differ from the known formats',
      description:
        'The findings of `underround doctor`, read from the memory of this process. Empty where collectors are other processes.',
      response: driftShape,
      handle: () => {
        metrics.venueDrift.forgetOld(clock.now());
        // The type holds the categories of the shape against those of the findings.
        const findings: z.infer<typeof driftShape>['findings'] = metrics.venueDrift
          .findings()
          .map((finding) => {
            const { category, feed, kind, key, firstSeenMs, lastSeenMs, count, sample } = finding;
            const times = { first_seen: formatTime(firstSeenMs), last_seen: formatTime(lastSeenMs) };
            return { category, feed, kind, key, ...times, count, sample };
          });
        return { body: JSON.stringify({ as_of: formatTime(clock.now()), findings }) };
      },
    }),
  ];
}
