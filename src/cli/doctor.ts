import type { Command } from 'commander';
import type { DriftCategory, DriftFinding } from '../runtime/venueDrift.ts';
import type { DriftReport } from '../venues/drift/driftReport.ts';
import type { QuarantinedFrame } from '../venues/drift/quarantine.ts';
import { printFailure } from './failure.ts';

interface DoctorOptions {
  dataDir?: string;
  json?: boolean;
}

const HEADINGS: Readonly<Record<DriftCategory, string>> = {
  unknown_field: 'Unknown fields',
  unknown_message: 'Unknown messages',
  refused_message: 'Refused messages',
  hash_recipe: 'Markets whose book hashes do not verify',
  silent_topic: 'Silent topics (COUNT: minutes)',
};
const NO_REPORT =
  'no report yet: no service of this version has recorded into this directory; start one with `underround serve`';
const COLUMNS = ['FEED', 'MESSAGE', 'WHAT', 'FIRST SEEN', 'LAST SEEN', 'COUNT', 'SAMPLE'];
/** Characters of a sample in the table; `--json` has all that is kept. */
const SAMPLE_SHOWN = 60;

/** `underround doctor`: works while a service runs and while none does. */
export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check this machine, its configuration and the venues, and report what differs from the known formats',
    )
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--json', 'print JSON')
    .action(async (options: DoctorOptions) => {
      try {
        await run(options);
      } catch (error) {
        printFailure(error);
        process.exitCode = 1;
      }
    });
}

async function run({ dataDir, json }: DoctorOptions): Promise<void> {
  const [{ readSettings }, { readDriftReport }, { Quarantine }, { systemClock }, { formatTimeOrNull }] =
    await Promise.all([
      import('./settings.ts'),
      import('../venues/drift/driftReport.ts'),
      import('../venues/drift/quarantine.ts'),
      import('../runtime/clock.ts'),
      import('../schema/time.ts'),
    ]);
  const config = await readSettings({ dataDir, use: 'read directory' });
  const report = await readDriftReport(config.dataDir, systemClock.now());
  const frames = await new Quarantine(config.dataDir).frames();
  const [{ formatTable }, { localChecks }, { venueChecks }] = await Promise.all([
    import('./table.ts'),
    import('./doctorChecks.ts'),
    import('./doctorVenues.ts'),
  ]);
  const [local, venues] = await Promise.all([
    localChecks(config, systemClock),
    venueChecks(config, systemClock),
  ]);
  const checks = [...local, ...venues];
  const time = (ms: number) => formatTimeOrNull(ms) ?? '';
  if (checks.some(({ state }) => state === 'fail')) process.exitCode = 1;
  if (json) return console.log(JSON.stringify({ ...asJson(report, frames, formatTimeOrNull), checks }));
  for (const line of asText(report, frames, { time, formatTable })) console.log(line);
  const rows = checks.map(({ check, state, finding, next }) => [state, check, oneLine(finding, 200), next]);
  console.log(`\nChecks\n${formatTable(['STATE', 'CHECK', 'FINDING', 'NEXT STEP'], rows)}`);
}

function asJson(
  { savedMs, findings, overflow }: DriftReport,
  frames: readonly QuarantinedFrame[],
  time: (ms: number | null) => string | null,
) {
  return {
    saved_at: time(savedMs),
    findings: findings.map(({ firstSeenMs, lastSeenMs, count, sample, ...subject }) => ({
      ...subject,
      ...{ first_seen: time(firstSeenMs), last_seen: time(lastSeenMs), count, sample },
    })),
    overflow,
    quarantine: quarantined(frames).map(({ oldestMs, newestMs, ...kind }) => ({
      ...kind,
      ...{ oldest: time(oldestMs), newest: time(newestMs) },
    })),
  };
}

interface Printing {
  readonly time: (ms: number) => string;
  readonly formatTable: typeof import('./table.ts')['formatTable'];
}

function asText(
  { savedMs, findings, overflow }: DriftReport,
  frames: readonly QuarantinedFrame[],
  { time, formatTable }: Printing,
): string[] {
  const lines: string[] = savedMs === null ? [NO_REPORT, ''] : [];
  for (const [category, heading] of Object.entries(HEADINGS)) {
    const rows = findings.filter((finding) => finding.category === category);
    if (rows.length > 0)
      lines.push(
        heading,
        formatTable(
          COLUMNS,
          rows.map((row) => cells(row, time)),
        ),
        '',
      );
  }
  for (const { category, feed, kind, count } of overflow)
    lines.push(`and ${count} more observations of ${category} in ${feed} ${kind}`, '');
  const kinds = quarantined(frames);
  if (kinds.length > 0) {
    const rows = kinds.map(({ feed, kind, frames: count, oldestMs, newestMs, reason }) => [
      ...[feed, kind, String(count), time(oldestMs), time(newestMs), oneLine(reason)],
    ]);
    const columns = ['FEED', 'MESSAGE', 'FRAMES', 'OLDEST', 'NEWEST', 'REASON'];
    lines.push('Set-aside frames (`underround import --quarantine` tries them again)');
    lines.push(formatTable(columns, rows), '');
  }
  return lines.length === 0 ? ['no drift seen'] : lines.slice(0, -1);
}

function cells(finding: DriftFinding, time: Printing['time']): (string | null)[] {
  const { feed, kind, key, firstSeenMs, lastSeenMs, count, sample } = finding;
  const shown = sample === null ? null : oneLine(sample);
  return [feed, kind, oneLine(key), time(firstSeenMs), time(lastSeenMs), String(count), shown];
}

/** A venue chooses these texts: control characters must not reach the terminal. */
function oneLine(text: string, length = SAMPLE_SHOWN): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, length);
}

/** The set-aside frames by feed and kind, with the newest reason. */
function quarantined(frames: readonly QuarantinedFrame[]) {
  const kinds = new Map<string, QuarantinedFrame[]>();
  for (const frame of frames) {
    const name = `${frame.feed} ${frame.kind}`;
    kinds.set(name, [...(kinds.get(name) ?? []), frame]);
  }
  return [...kinds.values()].map((all) => {
    const [oldest, newest] = [all[0], all.at(-1)] as [QuarantinedFrame, QuarantinedFrame];
    const { feed, kind, reason } = newest;
    const times = { oldestMs: oldest.receivedTimeMs, newestMs: newest.receivedTimeMs };
    return { feed, kind, frames: all.length, ...times, reason };
  });
}
