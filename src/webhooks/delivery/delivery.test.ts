import { describe, expect, it } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { formatTime } from '../../schema/time.ts';
import { deliveryIdOf, eventIdOf } from './delivery.ts';
import { toEvent, toSystemEvent } from './event.ts';

const at = (ms: number) => ({ market_id: '0xabc', detected_at: formatTime(ms) });

describe('ids', () => {
  it('are derived from the things they name', () => {
    const eventId = eventIdOf(at(1_795_219_200_123));
    expect(eventId).toMatch(/^ev_[0-9a-f]{31}$/);
    expect(eventIdOf(at(1_795_219_200_123))).toBe(eventId);
    expect(eventIdOf({ ...at(1_795_219_200_123), market_id: '0xabd' })).not.toBe(eventId);
    const deliveryId = deliveryIdOf('wh_1', eventId);
    expect(deliveryId).toMatch(/^dl_[0-9a-f]{31}$/);
    expect(deliveryIdOf('wh_1', eventId)).toBe(deliveryId);
    expect(deliveryIdOf('wh_2', eventId)).not.toBe(deliveryId);
  });

  it('are the same in every release: receivers and restarts recognise an event by them', () => {
    const eventId = eventIdOf(at(1_795_219_200_123));
    expect(eventId).toBe('ev_1a1fb67187b83c114c0b3e14cd62151');
    expect(deliveryIdOf('wh_1', eventId)).toBe('dl_1a1fb67187b9f2d0bad42f12d71d81e');
  });

  it('sort by detection time, so that new rows are at the end of their index', () => {
    const times = [0, 1, 999_999_999_999, 1_795_219_200_123, 1_795_219_200_124, 9_999_999_999_999];
    const events = times.map((ms) => eventIdOf(at(ms)));
    expect(events.toSorted()).toEqual(events);
    const deliveries = events.map((eventId) => deliveryIdOf('wh_1', eventId));
    expect(deliveries.toSorted()).toEqual(deliveries);
  });
});

it('an opportunity expires at the end of its market, in whole milliseconds', () => {
  const lifeMs = (minutes: number) => {
    const event = toEvent(opportunity({ nowMs: 1_795_219_200_123 }, { tau_minutes: minutes }));
    return (event?.expiresMs ?? 0) - 1_795_219_200_123;
  };
  expect([5, 1 / 60, 0.4 / 60_000, 0.6 / 60_000].map(lifeMs)).toEqual([300_000, 1_000, 0, 1]);
});

it.each([
  ['began', null, 0],
  ['ended', 172_800_000, 172_800_000],
] as const)(
  'a system event that %s expires a day after that, however long the fault lasted',
  (state, endMs, afterMs) => {
    const beganMs = 1_795_219_200_000;
    const ended_at = endMs === null ? null : formatTime(beganMs + endMs);
    const { detectedMs, expiresMs, row } = toSystemEvent({
      ...{ type: 'system.lag', state, incident_id: 'inc_1', subject: 'store', summary: 'x', url: null },
      ...{ began_at: formatTime(beganMs), ended_at },
    });
    expect([detectedMs - beganMs, expiresMs - beganMs]).toEqual([afterMs, afterMs + 86_400_000]);
    expect(row.detected_at).toBe(formatTime(beganMs + afterMs));
  },
);

it('the end of an incident has another id than its beginning, also in the same millisecond', () => {
  const at = formatTime(1_795_219_200_000);
  const incident = { type: 'system.lag', subject: 'store', summary: 'x', url: null, began_at: at } as const;
  const idOf = (state: 'began' | 'ended', incident_id = 'inc_1') =>
    toSystemEvent({ ...incident, state, incident_id, ended_at: state === 'ended' ? at : null }).row.event_id;
  expect(new Set([idOf('began'), idOf('ended'), idOf('began', 'inc_2')]).size).toBe(3);
  expect(idOf('began')).toBe(idOf('began'));
});

it('an opportunity that does not match the published schema is no event', () => {
  expect(toEvent(opportunity({ nowMs: 0 }, { tier: 'other' as never }))).toBeNull();
  expect(toEvent(opportunity({ nowMs: 0 }, { detected_at: 'yesterday' }))).toBeNull();
});
