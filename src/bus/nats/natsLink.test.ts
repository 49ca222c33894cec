import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { freePort } from '../../../test/support/freePort.ts';
import { openCluster } from '../../../test/support/natsCluster.ts';
import { natsAbsent, startNats } from '../../../test/support/natsServer.ts';
import { eventually } from '../../../test/support/runningService.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { NatsLink } from './natsLink.ts';

function memoryLog() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }) };
}

it.each(['http://geheim@127.0.0.1', 'geheim', 'nats://', 'nats://127.0.0.1:4222,geheim'])(
  '%s is refused as URL without showing it',
  async (url) => {
    await expect(openCluster(url)).rejects.toThrow(
      new ConfigError('NATS_URL (value not shown) must be URLs starting with nats:// or tls://'),
    );
  },
);

/** A link that connects at the first attempt or, as its clock stands still, never. */
function openLink(url: string) {
  const [clock, metrics] = [new FakeClock(), new Metrics()];
  const parts = { clock, log: silentLogger, metrics, random: () => 0.5 };
  const link = NatsLink.open({ url, name: 'test', ...parts });
  onTestFinished(() => link.close());
  /** Whether a wait for the connection is over. */
  const waitUntil = (signal: AbortSignal) => {
    const wait = { isOver: false };
    void link.up(signal).then(() => {
      wait.isOver = true;
    });
    return wait;
  };
  return { link, clock, metrics, waitUntil };
}

it('a wait for a connection that is down ends when its signal aborts, before or meanwhile', async () => {
  const { link, waitUntil } = openLink(`nats://127.0.0.1:${await freePort()}`);
  const stopping = new AbortController();
  const waits = [waitUntil(AbortSignal.abort()), waitUntil(stopping.signal)];
  await nextTurn();
  expect(waits.map(({ isOver }) => isOver)).toEqual([true, false]);
  stopping.abort();
  await nextTurn();
  expect(waits.map(({ isOver }) => isOver)).toEqual([true, true]);
  expect(link.isUp).toBe(false);
});

describe.skipIf(natsAbsent)('the connection to NATS (skipped without nats-server)', () => {
  it.each([
    ['a user and a password', ['--user', 'ann', '--pass', 'geheim/1'], 'ann:geheim%2F1'],
    ['a token', ['--auth', 'geheim'], 'geheim'],
  ])('is made with %s, which no log line contains', async (_what, extra, secret) => {
    const { url } = await startNats({ extra });
    const { lines, log } = memoryLog();
    const { ready, stream } = await openCluster(url.replace('//', `//${secret}@`), { log });
    await ready;
    expect(stream.reasons()).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('geheim'))).toEqual([]);
  });

  it('ends a wait for it once it is made, and a later wait at once', async () => {
    const { url } = await startNats();
    const { link, waitUntil } = openLink(url);
    const early = waitUntil(new AbortController().signal);
    await nextTurn();
    expect([early.isOver, link.isUp]).toEqual([false, false]);
    await link.connection();
    const late = waitUntil(new AbortController().signal);
    await nextTurn();
    expect([early.isOver, late.isOver, link.isUp]).toEqual([true, true, true]);
  });

  it('reports each change to those that listen, and no earlier failure after a later loss', async () => {
    const server = await startNats();
    await server.kill();
    const { link, clock, metrics } = openLink(server.url);
    const [heard, unheard]: [boolean[], boolean[]] = [[], []];
    link.onChange((isUp) => void heard.push(isUp));
    link.onChange((isUp) => void unheard.push(isUp))();
    await eventually('a failure', async () => link.reason !== 'NATS is not connected');
    await server.start();
    await eventually('a connection', async () => {
      await clock.advance(5_000);
      return link.isUp;
    });
    expect(link.reason).toBeNull();
    await server.kill();
    await eventually('the loss', async () => !link.isUp);
    const gauge = () => metrics.registry.getSingleMetricAsString('underround_stream_connected');
    expect([link.reason, await gauge()]).toEqual([
      'NATS is not connected',
      expect.stringContaining('connected 0'),
    ]);
    await server.start();
    await eventually('another connection', async () => link.isUp);
    expect(await gauge()).toContain('connected 1');
    await server.kill();
    await eventually('another loss', async () => !link.isUp);
    await link.close();
    expect([heard, unheard]).toEqual([[true, false, true, false], []]);
  });

  it('is tried again with a reason when the server refuses the password', async () => {
    const { url } = await startNats({ extra: ['--user', 'ann', '--pass', 'other'] });
    const { lines, log } = memoryLog();
    const { stream } = await openCluster(url.replace('//', '//ann:geheim@'), { log });
    await eventually('two attempts', async () => lines.length >= 2);
    expect(stream.reasons()).toEqual(['NATS is not connected: Authorization Violation']);
    expect(lines.filter((line) => line.includes('geheim'))).toEqual([]);
  });

  it('that uses TLS is not made with a server without it', async () => {
    const { url } = await startNats();
    const { stream } = await openCluster(url.replace('nats:', 'tls:'));
    const [reason] = await eventually('a reason', async () => {
      const reasons = stream.reasons();
      return reasons[0]?.includes(': ') ? reasons : null;
    });
    expect(reason).toContain('tls');
  });
});
