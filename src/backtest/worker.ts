/** Entry of a worker thread: reads and replays one market at a time, outside the service's event loop and memory. */
import { Agent } from 'node:http';
import { workerData } from 'node:worker_threads';
import { sleep, systemClock } from '../runtime/clock.ts';
import { TooMuchDataError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { StoreClient } from '../store/engine/client.ts';
import { loadTape } from '../store/queries/tapeReader.ts';
import { tapeHash } from '../store/tapeHash.ts';
import { cellsOf } from './cells.ts';
import { cellTerms, notReplayed, replayCells, replayOne } from './marketReplay.ts';
import { packOutcome, reportBytes } from './packedOutcome.ts';
import { judgeSweep } from './sweepReport.ts';
import type { LoadedMarket, MarketSource, Task, TaskResults, WorkerSettings } from './task.ts';

const SOCKETS_MAX = 4;

let client: StoreClient | null = null;
/** Compiled cells of the newest sweep; the tasks of a sweep follow each other. */
let known: { jobId: string; runs: ReturnType<typeof cellTerms> } | null = null;

/** Runs one task. It cannot be cancelled except by ending the thread. */
export default async function work<T extends Task>(task: T): Promise<TaskResults[T['kind']]>;
export default async function work(task: Task): Promise<TaskResults[Task['kind']]> {
  switch (task.kind) {
    case 'load':
      return (await load(task)) ?? { skipped: 'too_large' };
    case 'one': {
      const loaded = await load(task);
      const outcome =
        loaded === null ? notReplayed('too_large') : replayOne(loaded.tape, task.resolution, task.cell);
      const packed = packOutcome({ ...outcome, market: task.source.market });
      return { skipped: outcome.replay.skipped, packed, hash: loaded?.hash ?? '' };
    }
    case 'report':
      return reportBytes(task);
    case 'cells': {
      if (known?.jobId !== task.jobId) known = { jobId: task.jobId, runs: cellTerms(cellsOf(task.spec)) };
      return replayCells(task.tape, task.resolution, known.runs.slice(task.from, task.to));
    }
    case 'judge':
      return judgeSweep(task.markets, cellsOf(task.spec), task);
  }
}

async function load({
  source,
  resolution,
}: {
  source: MarketSource;
  resolution: Parameters<typeof tapeHash>[1];
}): Promise<LoadedMarket | null> {
  try {
    const tape = await loadTape(store(), source, new AbortController().signal);
    return { tape, hash: tapeHash(tape, resolution) };
  } catch (error) {
    if (error instanceof TooMuchDataError) return null;
    throw error;
  }
}

/** The engine belongs to the service: a thread only queries it, and waits while it restarts. */
function store(): StoreClient {
  if (client !== null) return client;
  const { url, socketPath } = workerData as WorkerSettings;
  const agent =
    socketPath === null ? null : new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, ...{ socketPath } });
  const access = {
    // A thread reads one tape at a time, so its calls never wait for each other.
    ...{ url, isServer: socketPath === null, agent, streamAgent: agent, hostPid: null },
    whenReady: (limitMs: number) => sleep(systemClock, limitMs),
    close: async () => undefined,
  };
  client = new StoreClient({ access, clock: systemClock, log: silentLogger });
  return client;
}
