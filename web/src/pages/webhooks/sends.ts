import type { Webhook } from '../../api/schema.ts';

/** What a webhook is sent, in a line. */
export function sendsText({ format, events, tiers, tickers }: Webhook): string {
  const opportunities = events.includes('opportunity')
    ? [tiers.join(', '), tickers?.join(', ') ?? 'all underlyings']
    : [];
  const faults = events.filter((event) => event !== 'opportunity').join(', ');
  const facts = [format === 'signed' ? '' : format, ...opportunities, faults];
  return facts.filter((fact) => fact !== '').join(' · ');
}
