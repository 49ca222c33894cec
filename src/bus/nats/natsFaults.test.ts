import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../test/support/freePort.ts';
import { openCluster } from '../../../test/support/natsCluster.ts';
import { NatsServer } from '../../../test/support/natsProcess.ts';
import { natsAbsent, startNats, startNatsCluster } from '../../../test/support/natsServer.ts';
import { eventually } from '../../../test/support/runningService.ts';
import { numbered, tradeIdOf, tradeOf } from '../../../test/support/streamTrades.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { systemClock } from '../../runtime/clock.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { partitionsOf } from '../partition.ts';
import type { RecordStream, StreamPlace, StreamWork } from '../recordStream.ts';
import { encodeMessage } from '../wire/message.ts';

const DYING = join(import.meta.dirname, '../../../test/support/dyingPublisher.ts');
const KIB = 1024;
const pause = (ms: number) => new Promise<void>((resolve) => void systemClock.after(ms, resolve));

function publish(stream: RecordStream, from: number, to: number): void {
  for (const tradeId of numbered(from, to)) stream.publish(tradeOf('market', tradeId));
}

/** Publishes a message every few milliseconds until `during` has ended. @returns The number of the last one. */
async function publishing(stream: RecordStream, from: number, during: () => Promise<void>): Promise<number> {
  let [next, isOver] = [from, false];
  const ended = during().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    publish(stream, next, next + 9);
    next += 10;
    await pause(5);
  }
  await ended;
  return next - 1;
}

async function followed(stream: RecordStream, fromSeq = 0): Promise<string[]> {
  const ids: string[] = [];
  await stream.follow({ fromSeq }, (message) => ids.push(tradeIdOf({ message })));
  return ids;
}

const has = (ids: readonly string[], count: number) =>
  eventually(`message ${count}`, async () => ids.at(-1) === `t${count}`);

async function managerOf(url: string): Promise<JetStreamManager> {
  const servers = url.split(',').map((one) => one.replace('nats://', ''));
  const connection = await connect({ servers });
  onTestFinished(() => connection.close());
  return jetstreamManager(connection, { checkAPI: false });
}

/** Publishes to a stopped server's stream while its usual users cannot reach it: another port serves the storage. */
async function storeElsewhere(storage: string, { from, to }: { from: number; to: number }): Promise<void> {
  const server = new NatsServer(await freePort(), storage, []);
  onTestFinished(() => server.kill());
  await server.start();
  const { streams } = await managerOf(server.url);
  const { state: before } = await streams.info('underround');
  const { stream } = await openCluster(server.url);
  publish(stream, from, to);
  const wanted = before.last_seq + to - from + 1;
  await eventually('stored', async () => (await streams.info('underround')).state.last_seq >= wanted);
  await server.kill();
}

/** The number of the server that leads the stream, as soon as the others have all of it. */
async function leaderWithReplicas(url: string): Promise<number> {
  const manager = await managerOf(url);
  return eventually('replicas of the stream', async () => {
    const { cluster } = await manager.streams.info('underround');
    const isWhole = cluster?.replicas?.every(({ current }) => current) === true;
    // Not a number: a leader that is not known yet.
    const number = Number(cluster?.leader?.replace('node', '') ?? Number.NaN);
    return isWhole && Number.isInteger(number) ? { number } : null;
  }).then(({ number }) => number);
}

async function metric(metrics: Metrics, name: string): Promise<number> {
  const text = await metrics.registry.getSingleMetricAsString(name);
  const values = text.split('\n').filter((line) => line.startsWith(name));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe.skipIf(natsAbsent)('NATS with faults (skipped without nats-server)', () => {
  it('loses and reorders nothing when the server is killed and starts again', async () => {
    const server = await startNats();
    const [a, b] = [await openCluster(server.url), await openCluster(server.url)];
    await Promise.all([a.ready, b.ready]);
    const ids = await followed(b.stream);
    const handled: string[] = [];
    await b.stream.work(
      { partition: partitionsOf('market', b.stream.partitions)[0] as number },
      async (work) => {
        handled.push(...work.map(tradeIdOf));
      },
    );
    const last = await publishing(a.stream, 1, async () => {
      await pause(300);
      await server.kill();
      await eventually('a reason', async () => a.stream.reasons().length > 0);
      await pause(2_000);
      await server.start();
      await pause(1_000);
    });
    await has(ids, last);
    await has(handled, last);
    expect(ids).toEqual(numbered(1, last));
    expect(handled).toEqual(numbered(1, last));
    expect(a.stream.reasons()).toEqual([]);
    expect(b.stream.reasons()).toEqual([]);
  });

  // Before the readers are back, fewer new messages are stored than were lost, or more: those pass the readers' place.
  it.each([
    [5_000, 0],
    [25, 50],
  ])(
    'says that the server lost messages 21 to %d with its power, before and after %d new ones',
    async (last, unread) => {
      const server = await startNats();
      const [sender, reader] = [await openCluster(server.url), await openCluster(server.url)];
      await Promise.all([sender.ready, reader.ready]);
      const followed: (readonly [string, boolean])[] = [];
      const worked: (readonly [string, boolean])[] = [];
      const partition = partitionsOf('market', reader.stream.partitions)[0] as number;
      const markOf = (one: StreamWork[number]) => [tradeIdOf(one), one.place.isRenumbered === true] as const;
      await reader.stream.follow({ fromSeq: 0 }, (message, place) =>
        followed.push(markOf({ message, place })),
      );
      await reader.stream.work({ partition }, async (work) => void worked.push(...work.map(markOf)));
      const readTo = (count: number) =>
        eventually(`${count} messages`, async () =>
          [followed, worked].every(({ length }) => length >= count),
        );
      publish(sender.stream, 1, 20);
      await readTo(20);
      await server.kill();
      const written = join(temporaryDirectory(), 'written');
      cpSync(server.storage, written, { recursive: true });
      await server.start();
      publish(sender.stream, 21, last);
      await readTo(last);
      await server.kill();
      rmSync(server.storage, { recursive: true });
      cpSync(written, server.storage, { recursive: true });
      if (unread > 0) await storeElsewhere(server.storage, { from: last + 1, to: last + unread });
      await server.start();
      let sent = last + unread;
      await eventually('new messages', async () => {
        sent++;
        publish(sender.stream, sent, sent);
        return [followed, worked].every(({ length }) => length > last + 1);
      });
      for (const read of [followed, worked]) {
        expect(read.slice(0, last)).toEqual(numbered(1, last).map((id) => [id, false]));
        const [first, ...others] = read.slice(last).map(([, isRenumbered]) => isRenumbered);
        expect([first, others.includes(true)]).toEqual([true, false]);
      }
    },
  );

  it('loses and reorders nothing when the server stops for some seconds', async () => {
    const server = await startNats();
    const [a, b] = [await openCluster(server.url), await openCluster(server.url)];
    await Promise.all([a.ready, b.ready]);
    const ids = await followed(b.stream);
    const last = await publishing(a.stream, 1, async () => {
      await pause(300);
      server.pause();
      await pause(7_000);
      server.resume();
      await pause(500);
    });
    await has(ids, last);
    expect(ids).toEqual(numbered(1, last));
  });

  it('loses and reorders nothing when the node of a cluster that leads the stream is killed', async () => {
    const servers = await startNatsCluster();
    const url = servers.map((server) => server.url).join(',');
    const [a, b] = [await openCluster(url, { replicas: 3 }), await openCluster(url, { replicas: 3 })];
    await Promise.all([a.ready, b.ready]);
    const leader = servers[await leaderWithReplicas(url)];
    const ids = await followed(b.stream);
    const last = await publishing(a.stream, 1, async () => {
      await pause(300);
      await leader?.kill();
      await pause(3_000);
      await eventually('acknowledgements', async () => a.stream.reasons().length === 0);
      await leader?.start();
      await pause(1_000);
    });
    await has(ids, last);
    expect(ids).toEqual(numbered(1, last));
  });

  it('keeps its numbers when each server of a cluster is killed in turn, twice', async () => {
    const servers = await startNatsCluster();
    const url = servers.map((server) => server.url).join(',');
    const [a, b] = [await openCluster(url, { replicas: 3 }), await openCluster(url, { replicas: 3 })];
    await Promise.all([a.ready, b.ready]);
    const { baseSeq } = a.stream;
    const ids = await followed(b.stream);
    const last = await publishing(a.stream, 1, async () => {
      for (const server of [...servers, ...servers]) {
        await server.kill();
        await pause(500);
        await server.start();
      }
      await eventually(
        'acknowledgements',
        async () => [...a.stream.reasons(), ...b.stream.reasons()].length === 0,
      );
    });
    await has(ids, last);
    expect(ids).toEqual(numbered(1, last));
    const later = await openCluster(url, { replicas: 3 });
    await later.ready;
    expect([b.stream.baseSeq, later.stream.baseSeq]).toEqual([baseSeq, baseSeq]);
  });

  it('reads nothing again from a server of a cluster that is behind', async () => {
    const servers = await startNatsCluster();
    const url = servers.map((server) => server.url).join(',');
    const { stream, ready } = await openCluster(url, { replicas: 3 });
    await ready;
    const stored = async (last: number) =>
      eventually(`${last} stored`, async () => (await stream.lastSeq()) === last);
    publish(stream, 1, 1_000);
    await stored(1_000);
    const behind = servers[((await leaderWithReplicas(url)) + 1) % servers.length];
    await behind?.kill();
    for (let from = 1_001; from <= 60_000; from += 1_000) {
      publish(stream, from, from + 999);
      await pause(5);
    }
    await stored(60_000);
    await behind?.start();
    const readers: string[][] = [];
    // Each reader has its consumer on any of the three servers.
    let isBehind = true;
    const caughtUp = leaderWithReplicas(url).finally(() => {
      isBehind = false;
    });
    while (isBehind && readers.length < 100) {
      readers.push(await followed(stream, 60_001));
      await pause(50);
    }
    await caughtUp;
    publish(stream, 60_001, 60_001);
    for (const ids of readers) await has(ids, 60_001);
    expect(readers.filter((ids) => ids.length > 1)).toEqual([]);
  });

  it('refuses a stream of another program', async () => {
    const server = await startNats();
    const manager = await managerOf(server.url);
    await manager.streams.add({ name: 'underround', subjects: ['underround.>'] });
    const { ready, stream } = await openCluster(server.url);
    const refusal =
      'the stream underround in NATS was created by another program: its description does not begin with "records of Underround since "';
    await expect(ready).rejects.toThrow(refusal);
    await expect(stream.follow({ fromSeq: 0 }, () => undefined)).rejects.toThrow(refusal);
  });

  it('is ready when every server of a cluster has the new stream', async () => {
    const url = (await startNatsCluster()).map((server) => server.url).join(',');
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { ready } = await openCluster(url, { replicas: 3, log });
    await ready;
    const manager = await managerOf(url);
    // A server that answers late on a busy machine is reported as behind for a moment, also after all were current.
    await eventually('the stream on every server', async () => {
      const { cluster } = await manager.streams.info('underround');
      return cluster?.replicas?.every(({ current }) => current) === true && cluster.replicas.length === 2;
    });
    expect(lines.filter((line) => line.includes('stream.replicas_missing'))).toEqual([]);
  });

  it('stores elections and values on as many servers as the stream, also when the number is raised', async () => {
    const servers = await startNatsCluster();
    const url = servers.map((server) => server.url).join(',');
    const connection = await connect({ servers: url.replaceAll('nats://', '').split(',') });
    onTestFinished(() => connection.close());
    const manager = await jetstreamManager(connection, { checkAPI: false });
    for (const replicas of [1, 3]) {
      const { election, ready, values } = await openCluster(url, { replicas });
      await ready;
      await values.put('value', Buffer.from(String(replicas)));
      const campaign = election.campaign('task', { onElected: () => undefined, onLost: () => undefined });
      await eventually('an election', async () => campaign.isLeader);
      const names = ['underround', 'KV_underround-values', 'KV_underround-leaders'];
      const infos = await Promise.all(names.map((name) => manager.streams.info(name)));
      expect(infos.map(({ config }) => config.num_replicas)).toEqual([replicas, replicas, replicas]);
      await campaign.stop();
    }
  });

  it('goes on with the same consumer after a batch whose handling took long', async () => {
    const server = await startNats();
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { ready, stream } = await openCluster(server.url, { log });
    await ready;
    publish(stream, 1, 10_000);
    await eventually('all', async () => (await stream.lastSeq()) === 10_000);
    const handled: string[] = [];
    const [partition] = partitionsOf('market', stream.partitions) as [number];
    await stream.work({ partition }, async (work) => {
      if (handled.length === 0) await pause(10_000);
      handled.push(...work.map(tradeIdOf));
    });
    await has(handled, 10_000);
    expect(handled).toEqual(numbered(1, 10_000));
    // On a busy machine the outbox may write a file before it sends.
    expect(lines.filter((line) => !line.includes('outbox.writes_files'))).toEqual([]);
  });

  it('keeps messages on disk while NATS is away, for a later process too', async () => {
    const server = await startNats();
    const dataDir = temporaryDirectory();
    const first = await openCluster(server.url, { dataDir });
    await first.ready;
    publish(first.stream, 1, 10);
    await server.kill();
    publish(first.stream, 11, 20);
    await first.close();
    const second = await openCluster(server.url, { dataDir });
    publish(second.stream, 21, 30);
    await server.start();
    await second.ready;
    const ids = await followed(second.stream);
    await has(ids, 30);
    expect(ids).toEqual(numbered(1, 30));
  });

  it('sends what a killed process left in its full outbox, in order and from the first', async () => {
    const server = await startNats();
    await server.kill();
    const dataDir = temporaryDirectory();
    const dying = spawn(process.execPath, [DYING, server.url, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void dying.kill('SIGKILL'));
    const [published] = (await once(createInterface(dying.stdout), 'line')) as [string];
    const closed = once(dying, 'close');
    dying.kill('SIGKILL');
    await closed;
    await server.start();
    const { ready, stream } = await openCluster(server.url, { dataDir });
    await ready;
    stream.publish(tradeOf('market', 'newer'));
    const ids = await followed(stream);
    await eventually('the newer message', async () => ids.at(-1) === 'newer');
    expect(ids.length).toBeGreaterThan(100);
    expect(ids.length - 1).toBeLessThan(Number(published));
    expect(ids).toEqual([...numbered(1, ids.length - 1), 'newer']);
  });

  it('reports messages that the stream deleted before a follower read them', async () => {
    const server = await startNats();
    const metrics = new Metrics();
    const cluster = await openCluster(server.url, { maxBytes: 256 * KIB, metrics });
    await cluster.ready;
    publish(cluster.stream, 1, 5_000);
    await eventually('all', async () => (await cluster.stream.lastSeq()) === 5_000);
    const ids = await followed(cluster.stream, 1);
    await has(ids, 5_000);
    const missed = 5_000 - ids.length;
    expect(missed).toBeGreaterThan(0);
    expect(ids).toEqual(numbered(missed + 1, 5_000));
    expect(await metric(metrics, 'underround_stream_missed_messages_total')).toBe(missed);
  });

  it.each([
    ['has the number that it had', 0, false],
    ['was replaced', -2, true],
  ])(
    'a follower that begins behind a message knows by its time whether it %s',
    async (_, differenceMs, isRenumbered) => {
      const { stream, ready } = await openCluster((await startNats()).url);
      await ready;
      const places: StreamPlace[] = [];
      const first = await stream.follow({ fromSeq: 0 }, (_message, place) => void places.push(place));
      for (const tradeId of ['t1', 't2']) stream.publish(tradeOf('market', tradeId));
      const [handled, next] = await eventually('two messages', async () => places.length === 2 && places);
      await first.stop();
      const { streamSeq, timeMs } = handled as StreamPlace;
      const later: StreamPlace[] = [];
      await stream.follow(
        { fromSeq: streamSeq + 1, after: { streamSeq, timeMs: timeMs + differenceMs } },
        (_message, place) => void later.push(place),
      );
      await eventually('the second message', async () => later.length > 0);
      const marks = isRenumbered ? { isAfterLoss: true, isRenumbered: true } : {};
      expect(later).toEqual([{ ...next, ...marks }]);
    },
  );

  it('reads nothing of a stream that was created again, also by a clock that was set back', async () => {
    const server = await startNats();
    const { ready, stream } = await openCluster(server.url);
    await ready;
    const ids: string[] = [];
    const readers = [
      await stream.follow({ fromSeq: 0 }, (message) => void ids.push(tradeIdOf({ message }))),
      await stream.follow({ fromSeq: 0 }, () => undefined),
    ];
    publish(stream, 1, 3);
    await has(ids, 3);
    const { streams } = await managerOf(server.url);
    const { config } = await streams.info('underround');
    await streams.delete('underround');
    await streams.add({ ...config, description: 'records of Underround since 2026-01-01T00:00:00.000Z' });
    const message = 'the stream was deleted and created again: restart this process';
    const ofReaders = `the stream cannot be read: ${message}`;
    await eventually('a reason', async () => stream.reasons().includes(ofReaders));
    publish(stream, 4, 6);
    await eventually('the new messages', async () => (await stream.lastSeq()) === 3);
    expect(ids).toEqual(numbered(1, 3));
    // A publisher may wait for an acknowledgement.
    const reasons = () => stream.reasons().filter((reason) => reason.endsWith(message));
    expect(reasons()).toEqual([message, ofReaders]);
    for (const reader of readers) await reader.stop();
    expect(reasons()).toEqual([message]);
  });

  it('a worker stops before a message of another release and acknowledges those before it', async () => {
    const server = await startNats();
    const { ready, stream } = await openCluster(server.url);
    await ready;
    const [partition] = partitionsOf('market', stream.partitions) as [number];
    publish(stream, 1, 3);
    await eventually('all', async () => (await stream.lastSeq()) === 3);
    const connection = await connect({ servers: server.url.replace('nats://', '') });
    onTestFinished(() => connection.close());
    const newer = encodeMessage(tradeOf('market', 't4'));
    newer[0] = 2;
    await connection.request(`underround.${partition}.trade`, newer);
    publish(stream, 5, 6);
    const handled: string[] = [];
    await stream.work({ partition }, async (work) => void handled.push(...work.map(tradeIdOf)));
    const reason = `partition ${partition} is stopped before message 4: a message of version 2; this release reads version 1`;
    await eventually('a reason', async () => stream.reasons().includes(reason));
    await has(handled, 3);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    await eventually('an acknowledgement', async () => {
      const consumers = await manager.consumers.list('underround').next();
      return consumers[0]?.ack_floor.stream_seq === 3;
    });
    expect(handled).toEqual(numbered(1, 3));
  });

  it('refuses a stream with another number of partitions', async () => {
    const server = await startNats();
    const first = await openCluster(server.url);
    await first.ready;
    const second = await openCluster(server.url, { partitions: 8 });
    await expect(second.ready).rejects.toThrow(
      'the stream underround in NATS has 4 partitions and not 8: a stream keeps the number with which it was created',
    );
    expect(second.stream.reasons()).toHaveLength(1);
  });
});
