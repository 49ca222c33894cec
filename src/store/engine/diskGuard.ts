/**
 * Keeps part of the disk free for the journal. Below the reserve, merges and inserts stop and recorded rows wait in the
 * journal. The engine cannot run on a full disk: it accepts files it could not write as valid.
 */

import { statfs } from 'node:fs/promises';
import type { DiskReserve } from '../../config/values.ts';
import { MIB } from '../../runtime/byteUnits.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { JournalReserve } from '../journal/journalReserve.ts';

/** The default reserve is the larger of the two. */
const DEFAULT_BYTES = 1024 * MIB;
const DEFAULT_SHARE = 0.02;
const POLL_MS = 500;
/** Work resumes when this share of the reserve is free beyond the reserve, so that it does not stop again at once. */
const RESUME_SHARE = 1 / 8;
/** How often a stop is repeated: a restarted engine does not know of it. */
const REPEAT_MS = 5_000;

interface DiskSpace {
  /** Bytes this process may use. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export async function readDiskSpace(path: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** @param reserve As configured; null: the default. */
export function reserveBytes(reserve: DiskReserve | null, totalBytes: number): number {
  if (reserve === null) return Math.max(DEFAULT_BYTES, Math.floor(totalBytes * DEFAULT_SHARE));
  return 'bytes' in reserve ? reserve.bytes : Math.floor(totalBytes * reserve.share);
}

/** Why a reserve cannot be kept on a disk: so much is never free, and the guard would stay on. Null where it can. */
export function reserveProblem(
  reserve: DiskReserve | null,
  { path, totalBytes }: { path: string; totalBytes: number },
): string | null {
  const wantedBytes = reserveBytes(reserve, totalBytes);
  const mostBytes = Math.floor(totalBytes / (1 + RESUME_SHARE));
  if (wantedBytes <= mostBytes) return null;
  const [total, wanted, most] = [totalBytes, wantedBytes, mostBytes].map((bytes) => Math.floor(bytes / MIB));
  return `the disk of ${path} has ${total} MiB, too few for the reserve of ${wanted} MiB; set UNDERROUND_DISK_RESERVE to ${most}MiB or less`;
}

interface DiskGuardOptions {
  readonly readSpace: () => Promise<DiskSpace>;
  readonly reserve: DiskReserve | null;
  /** Reserve of the journal; null where this process keeps none. */
  readonly journalReserve: JournalReserve | null;
  /** Stops or starts the engine's merges; null where the engine uses another disk. */
  readonly setMerges: ((running: boolean) => Promise<void>) | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export class DiskGuard {
  readonly #options: DiskGuardOptions;
  readonly #freeGauge;
  readonly #guardGauge;
  readonly #timer: Timer;
  #space: DiskSpace;
  #isOn = false;
  #polling: Promise<void> | null = null;
  #mergesRun: boolean | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  private constructor(options: DiskGuardOptions, space: DiskSpace) {
    const { metrics, clock } = options;
    this.#options = options;
    this.#space = space;
    this.#freeGauge = metrics.gauge(
      'underround_disk_free_bytes',
      'Free space on the disk of the data directory',
    );
    this.#guardGauge = metrics.gauge(
      'underround_disk_guard',
      '1 while free space is below the reserve: merges and inserts are stopped',
    );
    this.#judge();
    this.#timer = every(clock, POLL_MS, () => void this.poll());
  }

  static async open(options: DiskGuardOptions): Promise<DiskGuard> {
    return new DiskGuard(options, await options.readSpace());
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** As last measured. */
  get space(): { readonly freeBytes: number; readonly reserveBytes: number } {
    return { freeBytes: this.#space.freeBytes, reserveBytes: this.#reserve() };
  }

  /** Whether rows may be sent to the engine. An engine on another disk is not restricted. */
  mayInsert(): boolean {
    return !this.#isOn || this.#options.setMerges === null;
  }

  /** Why the service is not ready; empty while there is enough space. */
  reasons(): string[] {
    if (!this.#isOn) return [];
    return [`${reserveText(this.#space.freeBytes, this.#reserve())}: only the journal is written`];
  }

  /** Measures free space now; concurrent calls share one measurement. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer.cancel();
    await this.#polling;
    // Another process may continue to use this engine.
    if (this.#mergesRun === false) await this.#setMerges(true);
  }

  async #poll(): Promise<void> {
    const { readSpace, journalReserve, log } = this.#options;
    try {
      this.#space = await readSpace();
    } catch (error) {
      log.warn({ err: error }, 'disk.not_measured');
      return;
    }
    this.#judge();
    if (this.#stopped) return;
    await this.#setMerges(!this.#isOn);
    if (!this.#isOn) await journalReserve?.fill(this.#space.freeBytes - this.#reserve());
  }

  #reserve(): number {
    return reserveBytes(this.#options.reserve, this.#space.totalBytes);
  }

  #judge(): void {
    const { journalReserve, log } = this.#options;
    const { freeBytes } = this.#space;
    const reserve = this.#reserve();
    const resumeBytes = reserve * (1 + RESUME_SHARE) + (journalReserve?.missingBytes ?? 0);
    const isOn = freeBytes < (this.#isOn ? resumeBytes : reserve);
    this.#freeGauge.set(freeBytes);
    this.#guardGauge.set(isOn ? 1 : 0);
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    const line = { freeBytes, reserveBytes: reserve };
    if (isOn) log.error(line, 'disk.guard_on');
    else log.info(line, 'disk.guard_off');
  }

  /** Sends the state when it changed, and repeats a stop every `REPEAT_MS`. */
  async #setMerges(running: boolean): Promise<void> {
    const { setMerges, clock, log } = this.#options;
    if (setMerges === null) return;
    const isKnown = this.#mergesRun === running || (running && this.#mergesRun === null);
    if (isKnown && (running || clock.monotonic() - this.#sentAt < REPEAT_MS)) return;
    try {
      await setMerges(running);
      this.#mergesRun = running;
      this.#sentAt = clock.monotonic();
    } catch (error) {
      log.warn({ err: error, running }, 'disk.merges_not_set');
    }
  }
}

/** For a message that says that the free space is below the reserve. */
export function reserveText(freeBytes: number, reserve: number): string {
  const [free, kept] = [freeBytes, reserve].map((bytes) => Math.floor(bytes / MIB));
  return `the disk has ${free} MiB free, the reserve is ${kept} MiB`;
}
