import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../runtime/durableFile.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import {
  DRIFT_CATEGORIES,
  type DriftFinding,
  type DriftOverflow,
  FINDING_KEPT_MS,
  type VenueDrift,
} from '../../runtime/venueDrift.ts';
import { isKnownNow } from './allKinds.ts';

const FILE_NAME = 'venue-drift.json';

const subject = { category: z.enum(DRIFT_CATEGORIES), feed: z.string(), kind: z.string() };
const report = z.object({
  savedMs: z.number(),
  findings: z.array(
    z.object({
      ...subject,
      key: z.string(),
      firstSeenMs: z.number(),
      lastSeenMs: z.number(),
      count: z.number(),
      sample: z.string().nullable(),
    }),
  ),
  overflow: z.array(z.object({ ...subject, count: z.number() })),
});

/** The findings of a data directory, written by the service that records into it. */
export interface DriftReport {
  /** Null when no service has saved one. */
  readonly savedMs: number | null;
  readonly findings: readonly DriftFinding[];
  readonly overflow: readonly DriftOverflow[];
}

/**
 * Reads the report, without the findings that are old or that this version knows by now.
 * @throws {InvalidInputError} When the file is damaged.
 */
export async function readDriftReport(dataDir: string, nowMs: number): Promise<DriftReport> {
  const text = await readFile(join(dataDir, FILE_NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return { savedMs: null, findings: [], overflow: [] };
  const { savedMs, findings, overflow } = parseReport(text, dataDir);
  const current = findings.filter((one) => nowMs - one.lastSeenMs < FINDING_KEPT_MS && !isKnownNow(one));
  const kinds = new Set(current.map(nameOf));
  return { savedMs, findings: current, overflow: overflow.filter((one) => kinds.has(nameOf(one))) };
}

function parseReport(text: string, dataDir: string): z.infer<typeof report> {
  try {
    return report.parse(JSON.parse(text));
  } catch (cause) {
    throw new InvalidInputError(`drift report ${join(dataDir, FILE_NAME)} is damaged`, { cause });
  }
}

/** Replaces the report at once, so that a reader never reads half of it. */
export async function writeDriftReport(dataDir: string, drift: VenueDrift, nowMs: number): Promise<void> {
  const saved = { savedMs: nowMs, findings: drift.findings(), overflow: drift.overflow() };
  await replaceFile(join(dataDir, FILE_NAME), JSON.stringify(saved));
}

/** Moves a damaged report aside, so that nothing of it is lost. */
export async function moveDamagedReport(dataDir: string): Promise<void> {
  const path = join(dataDir, FILE_NAME);
  await rename(path, `${path}.damaged`);
}

function nameOf({ category, feed, kind }: Omit<DriftOverflow, 'count'>): string {
  return `${category} ${feed} ${kind}`;
}
