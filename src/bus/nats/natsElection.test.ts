import { createHash } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryElections, MemoryValues } from '../../../test/support/memoryElection.ts';
import { openCluster } from '../../../test/support/natsCluster.ts';
import { natsAbsent, startNats } from '../../../test/support/natsServer.ts';
import { eventually } from '../../../test/support/runningService.ts';
import { systemClock } from '../../runtime/clock.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Election } from '../recordStream.ts';
import { NatsElection } from './natsElection.ts';
import { NatsLink } from './natsLink.ts';

/** A campaign with what its callbacks reported. */
function campaign(election: Election, task: string) {
  const calls: string[] = [];
  const running = election.campaign(task, {
    onElected: () => calls.push('elected'),
    onLost: () => calls.push('lost'),
  });
  return { calls, running };
}

const elected = ({ running }: ReturnType<typeof campaign>) =>
  eventually('an election', async () => running.isLeader);

/** Each driver of `Election` passes these. */
function describeElection(
  name: string,
  open: () => Promise<readonly [Election, Election]>,
  isAbsent = false,
) {
  describe.skipIf(isAbsent)(`an election: ${name}`, () => {
    it('has one leader, and another one when it stops', async () => {
      const [one, two] = await open();
      const first = campaign(one, 'detect');
      await elected(first);
      const second = campaign(two, 'detect');
      const elsewhere = campaign(two, 'paper');
      await elected(elsewhere);
      expect([first.running.isLeader, second.running.isLeader]).toEqual([true, false]);
      await first.running.stop();
      expect(first.calls).toEqual(['elected', 'lost']);
      expect(first.running.isLeader).toBe(false);
      await elected(second);
      await second.running.stop();
      await elsewhere.running.stop();
      expect(second.calls).toEqual(['elected', 'lost']);
    });

    it('elects a process that campaigned for a second time', async () => {
      const [one] = await open();
      const first = campaign(one, 'again');
      await elected(first);
      await first.running.stop();
      const second = campaign(one, 'again');
      await elected(second);
      await second.running.stop();
      expect([first.calls, second.calls]).toEqual([
        ['elected', 'lost'],
        ['elected', 'lost'],
      ]);
    });
  });
}

describeElection('in memory', async () => {
  const elections = new MemoryElections();
  return [elections.connect(), elections.connect()];
});
describeElection(
  natsAbsent ? 'NATS (skipped: nats-server is not installed)' : 'NATS',
  async () => {
    const { url } = await startNats();
    return [(await openCluster(url)).election, (await openCluster(url)).election];
  },
  natsAbsent,
);

it('in memory passes from a process that dies or is deposed', async () => {
  const elections = new MemoryElections();
  const dying = elections.connect();
  const first = campaign(dying, 'detect');
  const second = campaign(elections.connect(), 'detect');
  const third = campaign(elections.connect(), 'detect');
  await elected(first);
  dying.die();
  expect([first.calls, second.calls]).toEqual([['elected'], ['elected']]);
  elections.depose('detect');
  expect([second.calls, third.calls]).toEqual([['elected', 'lost'], ['elected']]);
});

it('values in memory are copies', async () => {
  const values = new MemoryValues();
  const value = Uint8Array.of(1, 2);
  await values.put('a', value);
  value[0] = 9;
  expect([await values.get('a'), await values.get('b')]).toEqual([Uint8Array.of(1, 2), null]);
});

describe.skipIf(natsAbsent)('elections on NATS (skipped without nats-server)', () => {
  it('move to another process when the connection of the leader is cut, after it has resigned', async () => {
    const { url } = await startNats();
    const [one, two] = [await openCluster(url), await openCluster(url)];
    const order: string[] = [];
    const first = one.election.campaign('detect', {
      onElected: () => order.push('first elected'),
      onLost: () => order.push('first lost'),
    });
    await eventually('an election', async () => first.isLeader);
    const second = two.election.campaign('detect', {
      onElected: () => order.push('second elected'),
      onLost: () => order.push('second lost'),
    });
    await one.close();
    await eventually('a takeover', async () => second.isLeader);
    expect(order).toEqual(['first elected', 'first lost', 'second elected']);
    await first.stop();
    await second.stop();
  });

  it('have no leader while the server is away, and one again afterwards', async () => {
    const server = await startNats();
    const { election } = await openCluster(server.url);
    const { calls, running } = campaign(election, 'detect');
    await elected({ calls, running });
    server.pause();
    await eventually('the loss', async () => calls.length === 2);
    expect(running.isLeader).toBe(false);
    server.resume();
    await elected({ calls, running });
    expect(calls).toEqual(['elected', 'lost', 'elected']);
    await running.stop();
  });

  // A cluster (2.9.10) accepts two entries that replace the same mark, and so elects two processes.
  it('leave no mark of a deletion when a leader stops, and do not replace that of an earlier release', async () => {
    const { url } = await startNats();
    const { election, ready } = await openCluster(url);
    await ready;
    const connection = await connect({ servers: url.replace('nats://', '') });
    onTestFinished(() => connection.close());
    const first = campaign(election, 'detect');
    await elected(first);
    const entries = await new Kvm(jetstream(connection)).open('underround-leaders');
    await first.running.stop();
    expect(await entries.get('detect')).toBe(null);
    await entries.delete('detect');
    const createdMs = async () => (await entries.get('detect'))?.created.getTime() ?? Number.NaN;
    const markMs = await createdMs();
    const second = campaign(election, 'detect');
    await elected(second);
    // The mark has expired.
    expect((await createdMs()) - markMs).toBeGreaterThanOrEqual(4_000);
    await second.running.stop();
  });
});

describe.skipIf(natsAbsent)(
  'a leader whose entry another process has written (skipped without nats-server)',
  () => {
    const TASK = 'detect';

    /** A leader on a clock that only the test advances, after another process has written its entry. */
    async function deposed() {
      const { url } = await startNats();
      const connection = await connect({ servers: url.replace('nats://', '') });
      onTestFinished(() => connection.close());
      const bucket = 'leaders';
      // Entries that outlive the test: an expired one is no other process's.
      const entries = await new Kvm(jetstream(connection)).create(bucket, { history: 1, ttl: 600_000 });
      const observed = { log: silentLogger, metrics: new Metrics() };
      const name = { url, name: 'one', clock: systemClock, random: () => 0.5 };
      const link = NatsLink.open({ ...name, ...observed });
      onTestFinished(() => link.close());
      const clock = new FakeClock();
      const election = new NatsElection({ link, bucket, replicas: 1, candidate: 'one', clock, ...observed });
      const one = campaign(election, TASK);
      await elected(one);
      await entries.put(TASK, 'another');
      return { clock, entries, ...one };
    }

    it('resigns with its next renewal, and not when its own time has ended', async () => {
      const { calls, clock, running } = await deposed();
      expect(running.isLeader).toBe(true);
      await clock.advance(1_000);
      await eventually('the loss', async () => calls.length === 2);
      expect([calls, running.isLeader]).toEqual([['elected', 'lost'], false]);
      await running.stop();
    });

    it('does not delete that entry when it stops', async () => {
      const { calls, entries, running } = await deposed();
      await running.stop();
      expect(calls).toEqual(['elected', 'lost']);
      expect((await entries.get(TASK))?.string()).toBe('another');
    });
  },
);

describe.skipIf(natsAbsent)('values on NATS (skipped without nats-server)', () => {
  it('are the same in every process, and survive the server', async () => {
    const server = await startNats();
    const [one, two] = [await openCluster(server.url), await openCluster(server.url)];
    expect(await one.values.get('merge.0')).toBe(null);
    await one.values.put('merge.0', Uint8Array.of(1, 2, 3));
    await one.values.put('merge.0', Uint8Array.of(4, 5));
    expect(Buffer.from((await two.values.get('merge.0')) ?? [])).toEqual(Buffer.of(4, 5));
    await server.kill();
    await server.start();
    expect(Buffer.from((await two.values.get('merge.0')) ?? [])).toEqual(Buffer.of(4, 5));
  });

  it('that an operator deleted are none', async () => {
    const { url } = await startNats();
    const { values } = await openCluster(url);
    await values.put('merge.0', Uint8Array.of(1));
    const connection = await connect({ servers: url.replace('nats://', '') });
    onTestFinished(() => connection.close());
    await (await new Kvm(jetstream(connection)).open('underround-values')).delete('merge.0');
    expect(await values.get('merge.0')).toBe(null);
  });

  it('that are too large are refused', async () => {
    const { url } = await startNats();
    const { values } = await openCluster(url);
    // Bytes that cannot be compressed.
    const hashes = Array.from({ length: 30_000 }, (_, index) =>
      createHash('sha512').update(`${index}`).digest(),
    );
    const noise = Buffer.concat(hashes);
    await expect(values.put('large', noise)).rejects.toThrow(InvalidInputError);
  });
});
