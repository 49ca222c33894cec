import { expect, test } from 'vitest';
import { opportunity } from '../../test/support/opportunity.ts';
import { auditIdOf } from './detection.ts';
import { streamedOpportunities } from './opportunityPublisher.ts';

test('an opportunity is streamed under its market, with the id of its audit row', () => {
  const messages: unknown[] = [];
  const stream = { publish: (message: unknown) => void messages.push(message) };
  const publisher = streamedOpportunities(stream, { sender: 's1', run: 'r1' });
  const body = opportunity({ nowMs: 1_795_219_200_123 });
  publisher.publish('opportunity', body);
  const { market_id: key, tier } = body;
  expect(messages).toEqual([
    { kind: 'opportunity', body, id: auditIdOf(key, tier), key, sender: 's1', run: 'r1' },
  ]);
});
