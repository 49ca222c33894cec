import type { Metrics } from '../runtime/metrics.ts';

export function recorderCounters(metrics: Metrics) {
  return {
    rejected: metrics.counter('underround_frames_rejected_total', 'Frames set aside as not understood', [
      'feed',
    ]),
    actions: metrics.counter('underround_book_actions_total', 'Venue actions finished', ['end', 'trusted']),
    priceConflicts: metrics.counter(
      'underround_price_conflicts_total',
      'Price points that a second feed or a repetition gave another price',
      ['source'],
    ),
    ignored: metrics.counter('underround_book_events_ignored_total', 'Book events not applied', ['why']),
  };
}
