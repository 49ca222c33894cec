import { describe, expect, test } from 'vitest';
import { QUEUE_MODELS, type QueueModel } from '../../schema/strategy.ts';
import { Random } from '../random.ts';
import { QueuePosition } from './queue.ts';

/** Longer than a trade can explain a decrease. */
const LATER_MS = 2_000;

function queueOf(model: QueueModel, { ahead, shown }: { ahead: number; shown: number }): QueuePosition {
  const queue = new QueuePosition(model, ahead);
  queue.displayed(shown, 0);
  return queue;
}

test.each(QUEUE_MODELS)(
  'behind 100 shown, 50 of ours: sales of 80, 30 and 50 reach us with 0, 10 and 50, model %s',
  (model) => {
    const queue = new QueuePosition(model, 100);
    expect(queue.traded(80, 1)).toBe(0);
    expect(queue.ahead).toBe(20);
    expect([queue.traded(30, 2), queue.traded(50, 3)]).toEqual([10, 50]);
  },
);

describe('a decrease without a trade', () => {
  test.each([
    ['optimistic', 40],
    ['proportional', 48],
    ['pessimistic', 60],
  ] as const)('front 60 of 100, down to 80: %s leaves %d ahead', (model, ahead) => {
    const queue = queueOf(model, { ahead: 60, shown: 100 });
    queue.displayed(80, 1);
    expect(queue.ahead).toBeCloseTo(ahead, 9);
    queue.displayed(80, LATER_MS);
    expect(queue.ahead).toBeCloseTo(ahead, 9);
  });

  test.each(QUEUE_MODELS)('cannot leave more ahead than is displayed, model %s', (model) => {
    const queue = queueOf(model, { ahead: 60, shown: 60 });
    queue.displayed(120, 1);
    expect(queue.ahead).toBe(60);
    queue.displayed(25, 2);
    expect(queue.ahead).toBeLessThanOrEqual(25);
    queue.displayed(0, 3);
    expect(queue.ahead).toBe(0);
  });

  test.each(QUEUE_MODELS)(
    'cannot leave more ahead than is displayed where other orders of ours took a part of a trade, model %s',
    (model) => {
      const queue = new QueuePosition(model, 100);
      queue.traded(20, 100, 30);
      queue.displayed(60, 200);
      expect(queue.ahead).toBe(60);
    },
  );
});

test('a decrease that a trade explains in part is one of the size that the trade left', () => {
  const queue = queueOf('proportional', { ahead: 60, shown: 100 });
  queue.traded(10, 100);
  queue.displayed(70, 200);
  // Twenty of ninety shares were cancelled, fifty of them ahead of us.
  expect(queue.ahead).toBeCloseTo(50 * (1 - 20 / 90), 9);
});

describe('a trade and the decrease that it caused count once', () => {
  test.each(QUEUE_MODELS)('the trade arrives first, model %s', (model) => {
    const queue = queueOf(model, { ahead: 60, shown: 100 });
    expect(queue.traded(30, 100)).toBe(0);
    queue.displayed(70, 400);
    expect(queue.ahead).toBe(30);
  });

  test.each(QUEUE_MODELS)('the book arrives first, model %s', (model) => {
    const queue = queueOf(model, { ahead: 60, shown: 100 });
    queue.displayed(70, 100);
    expect(queue.traded(30, 700)).toBe(0);
    expect(queue.ahead).toBe(30);
  });

  test.each(QUEUE_MODELS)('the level is swept, and its trade arrives afterwards, model %s', (model) => {
    const queue = queueOf(model, { ahead: 60, shown: 100 });
    queue.displayed(0, 100);
    expect(queue.traded(100, 300)).toBe(40);
  });

  test('a trade still explains a decrease of exactly one second before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(70, 100);
    expect(queue.traded(30, 1_100)).toBe(0);
    expect(queue.ahead).toBe(30);
  });

  test('a trade does not explain a decrease of a second and a millisecond before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(70, 100);
    expect(queue.traded(30, 1_101)).toBe(0);
    expect(queue.ahead).toBe(0);
  });

  test('a decrease is still explained by a trade of exactly one second before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(30, 100);
    queue.displayed(70, 1_100);
    expect(queue.ahead).toBe(30);
  });

  test('a trade explains only as much as its size', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(30, 100);
    queue.displayed(70, 200);
    queue.displayed(50, 300);
    expect(queue.ahead).toBe(10);
  });

  test('an increase does not let a trade explain more', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(30, 100);
    queue.displayed(120, 200);
    queue.displayed(70, 300);
    expect(queue.ahead).toBe(10);
  });

  test.each(QUEUE_MODELS)(
    'a trade of half a decrease leaves all that is displayed ahead, model %s',
    (model) => {
      const queue = new QueuePosition(model, 100);
      queue.displayed(60, 100);
      expect(queue.traded(20, 200)).toBe(0);
      expect(queue.ahead).toBe(60);
    },
  );

  test.each(QUEUE_MODELS)(
    'a trade that explains two decreases leaves all that is displayed ahead, model %s',
    (model) => {
      const queue = new QueuePosition(model, 100);
      queue.displayed(80, 100);
      queue.displayed(60, 150);
      expect(queue.traded(20, 200)).toBe(0);
      expect(queue.ahead).toBe(60);
    },
  );

  test.each(QUEUE_MODELS)(
    'a trade that the book has shown already left its last 5 units ahead, model %s',
    (model) => {
      const queue = new QueuePosition(model, 100);
      queue.displayed(90, 100);
      queue.displayed(5, 150);
      expect(queue.traded(20, 200), 'reaches us').toBe(0);
      expect(queue.ahead).toBe(5);
    },
  );

  test('a trade that explained a decrease explains no later one', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(70, 100);
    queue.traded(30, 200);
    queue.displayed(50, 300);
    expect(queue.ahead).toBe(10);
  });

  test('a trade that explained a part of a decrease explains a later one with the rest', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(90, 100);
    queue.traded(30, 200);
    queue.displayed(60, 300);
    expect(queue.ahead).toBe(20);
  });

  test('an increase before a trade does not let it explain more', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(120, 100);
    queue.traded(30, 200);
    queue.displayed(70, 300);
    expect(queue.ahead).toBe(10);
  });

  test('a trade explains all that was recorded of it, whatever other orders of ours took', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(20, 100, 30);
    queue.displayed(70, 200);
    expect(queue.ahead).toBe(40);
  });

  test('a decrease is not explained by a trade of two seconds before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(30, 100);
    queue.displayed(70, 100 + LATER_MS);
    expect(queue.ahead).toBe(0);
  });

  test('of two trades only the one of the last second explains a decrease', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.traded(10, 100);
    queue.traded(20, 900);
    queue.displayed(70, 1_500);
    expect(queue.ahead).toBe(20);
  });

  test('of two decreases only the one of the last second is explained by a trade', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(90, 100);
    queue.displayed(70, 900);
    queue.traded(20, 1_500);
    expect(queue.ahead).toBe(30);
  });

  test('a trade does not explain a decrease of two seconds before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(70, 100);
    expect(queue.traded(30, 100 + LATER_MS)).toBe(0);
    expect(queue.ahead).toBe(0);
  });
});

describe('an unknown position', () => {
  test('of a level beyond the displayed ones, is known when it is displayed', () => {
    const queue = new QueuePosition('optimistic', null);
    expect(queue.traded(1_000, 1)).toBe(0);
    expect(queue.ahead).toBe(Number.POSITIVE_INFINITY);
    queue.displayed(40, 2);
    expect(queue.ahead).toBe(40);
  });

  test('a level that was not displayed for a while has no more ahead than before', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 60 });
    queue.displayed(null, 1);
    queue.displayed(100, 2);
    expect(queue.ahead).toBe(60);
    queue.displayed(null, 3);
    queue.displayed(40, 4);
    expect(queue.ahead).toBe(40);
    queue.displayed(90, 5);
    expect(queue.ahead, 'later orders are behind us').toBe(40);
  });

  test('a decrease before the level was out of sight counts once', () => {
    const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
    queue.displayed(80, 1);
    queue.displayed(null, 2);
    queue.displayed(100, 3);
    expect(queue.ahead).toBe(40);
  });

  test('after an unproven book is behind all that is displayed', () => {
    const queue = new QueuePosition('optimistic', 100);
    queue.traded(90, 1);
    queue.lost();
    queue.displayed(70, 2);
    expect(queue.ahead).toBe(70);
  });
});

test('after an unproven book, an earlier decrease no longer limits how much is ahead', () => {
  const queue = queueOf('optimistic', { ahead: 60, shown: 100 });
  queue.displayed(70, 100);
  queue.lost();
  queue.displayed(120, 200);
  expect(queue.ahead).toBe(120);
});

test('a trade before an unproven book explains no decrease after it', () => {
  const queue = new QueuePosition('optimistic', 100);
  queue.traded(20, 100);
  queue.lost();
  queue.displayed(100, 200);
  queue.displayed(150, 250);
  queue.displayed(120, 300);
  expect(queue.ahead).toBe(70);
  queue.displayed(120, 300 + LATER_MS);
  expect(queue.ahead).toBe(70);
});

test('a trade reaches us with whole units only: behind 49.2 of 82, a sale of 60 with 10', () => {
  const queue = queueOf('proportional', { ahead: 60, shown: 100 });
  queue.displayed(82, 1);
  queue.displayed(82, LATER_MS);
  expect(queue.ahead).toBeCloseTo(49.2, 9);
  expect(queue.traded(60, LATER_MS + 1)).toBe(10);
});

test('after any trades and books: optimistic <= proportional <= pessimistic', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new Random(`queue ${seed}`);
    let shown = 1 + random.below(200);
    const queues = QUEUE_MODELS.map((model) => new QueuePosition(model, shown));
    let timeMs = 0;
    for (let step = 0; step < 60; step++) {
      timeMs += random.below(random.chance(0.2) ? 3_000 : 200);
      if (random.chance(0.5)) {
        const size = random.below(30);
        const reached = queues.map((queue) => queue.traded(size, timeMs));
        expect(reached, `seed ${seed}, step ${step}`).toEqual(reached.toSorted((a, b) => b - a));
        if (random.chance(0.5)) shown = Math.max(0, shown - size);
      } else {
        shown = random.chance(0.1) ? 0 : Math.max(0, shown + random.below(60) - 30);
        for (const queue of queues) queue.displayed(shown, timeMs);
      }
      const [best, middle, worst] = queues.map(({ ahead }) => ahead) as [number, number, number];
      expect(best, `seed ${seed}, step ${step}`).toBeLessThanOrEqual(middle + 1e-9);
      expect(middle, `seed ${seed}, step ${step}`).toBeLessThanOrEqual(worst + 1e-9);
    }
  }
});
