import { expect, onTestFinished, test, vi } from 'vitest';
import { runUntilStopped } from './running.ts';

const EVENTS = ['uncaughtException', 'SIGINT', 'SIGTERM'] as const;

function opening() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const emit = process.emit.bind(process) as (event: string, ...values: unknown[]) => boolean;
const fail = (text: string) => emit('uncaughtException', new Error(text), 'uncaughtException');

/** A running service whose stop the test ends. Exits of the process are only noted. */
async function rig() {
  const earlier = EVENTS.map((event) => process.listeners(event as 'SIGINT'));
  for (const event of EVENTS) process.removeAllListeners(event);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const exits: unknown[] = [];
  vi.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    EVENTS.forEach((event, at) => {
      process.removeAllListeners(event);
      for (const listener of earlier[at] ?? []) process.on(event, listener as () => void);
    });
  });
  const [started, stopped] = [opening(), opening()];
  const running = runUntilStopped(async () => {
    started.open();
    return { close: () => stopped.opened };
  });
  await started.opened;
  await new Promise((resolve) => setImmediate(resolve));
  const finish = async () => {
    stopped.open();
    await running;
  };
  return { exits, finish };
}

test('errors that follow the first one do not end the stop that saves the recorded rows', async () => {
  const { exits, finish } = await rig();
  fail('first');
  fail('second');
  expect(exits).toEqual([]);
  await finish();
  expect(exits).toEqual([1]);
});

test('a second signal ends the process at once', async () => {
  const { exits, finish } = await rig();
  emit('SIGTERM');
  expect(exits).toEqual([]);
  emit('SIGTERM');
  expect(exits).toEqual([130]);
  await finish();
});

test('a signal ends a stop that follows an error', async () => {
  const { exits, finish } = await rig();
  fail('first');
  emit('SIGINT');
  expect(exits).toEqual([130]);
  await finish();
});
