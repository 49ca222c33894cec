import { expect, it } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, replied, states } from '../../../test/support/webhooks.ts';

it('a dispatcher that closes waits for its attempts, writes their outcomes, and only then gives up its role and its connections', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const steps: unknown[] = [];
  const leave = async () => void steps.push(await states(t));
  let end: () => void = () => undefined;
  const attempt = async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return replied(200, t.clock);
  };
  const to = { attempt, close: async () => void steps.push('connections closed') };
  const dispatcher = await t.dispatcher(to, 'killed', { isUs: async () => true, leave });
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect(dispatcher.isSending).toBe(true);
  const closing = dispatcher.close().then(() => steps.push('closed'));
  await t.clock.advance(1_000);
  expect([steps, dispatcher.isSending]).toEqual([[], false]);
  end();
  await closing;
  expect(steps).toEqual([['delivered'], 'connections closed', 'closed']);
});

it('a dispatcher that closes while it asks who sends gives up its role after the answer', async () => {
  const t = await openTestWebhooks();
  const steps: string[] = [];
  let answer: () => void = () => undefined;
  const isUs = async () => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    steps.push('answered');
    return true;
  };
  const leave = async () => void steps.push('left');
  const starting = t.dispatcher({ attempt: async () => replied(200, t.clock) }, 'killed', { isUs, leave });
  await t.clock.advance(0);
  answer();
  const dispatcher = await starting;
  await t.clock.advance(1_000);
  const closing = dispatcher.close();
  await t.clock.advance(0);
  expect(steps).toEqual(['answered']);
  answer();
  await closing;
  expect(steps).toEqual(['answered', 'answered', 'left']);
});

it('a change reported during a poll causes one more poll', async () => {
  const t = await openTestWebhooks();
  let polls = 0;
  let answer: () => void = () => undefined;
  const isUs = async () => {
    if (++polls === 2) {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    }
    // A failed test must not poll for ever.
    return polls > 3 ? await new Promise<boolean>(() => {}) : true;
  };
  const to = answering(t, () => 200);
  const dispatcher = await t.dispatcher(to, 'killed', { isUs, leave: async () => {} });
  dispatcher.wake();
  dispatcher.wake();
  answer();
  await t.clock.advance(500);
  expect(polls).toBe(3);
});

it('an event accepted while its dispatcher closes is stored for the next one, and not attempted', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, () => 200);
  const dispatcher = await t.dispatcher(to, 'killed');
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await dispatcher.close();
  expect([to.attempts.length, await states(t)]).toEqual([0, ['pending']]);
});
