import type { OperatorSummary } from '../../api/schema.ts';
import { bytes } from '../../ui/format.ts';

const FAR_MS = 10 * 365 * 86_400_000;

/** An estimate has no time of day, and says nothing about years far away. */
function fullText(atMs: number, nowMs: number): string {
  if (atMs - nowMs > FAR_MS) return 'in more than ten years';
  return `on ${new Date(atMs).toISOString().slice(0, 10)}`;
}

/** Growth of the recording a day, and when the disk is full at that growth. */
export function growthText(
  {
    growth_bytes_per_day: growth,
    disk_full_at: full,
  }: Pick<OperatorSummary, 'growth_bytes_per_day' | 'disk_full_at'>,
  nowMs: number,
): string {
  if (growth === null) return 'growth is known after the first whole day of recording';
  return `+${bytes(growth)} a day${full === null ? '' : `, full ${fullText(Date.parse(full), nowMs)}`}`;
}
