/** Kills a trading process repeatedly, and compares its result with that of an undisturbed process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { systemClock as clock, sleep } from '../../src/runtime/clock.ts';
import { sumsOf } from '../../src/trading/paper/positions.ts';

/** Longest life after the start of trading: a session takes about a second. */
const LIFE_MS_MAX = 250;
/** Share of kills that hit a process during its start. */
const EARLY_SHARE = 0.15;
const KILLS_A_SESSION = 10;

interface PaperCrashResult {
  readonly kills: number;
  readonly sessions: number;
  readonly positions: number;
  /** Sessions whose positions differ from those of the undisturbed run. */
  readonly differing: number;
  /** Strategies whose sums differ from the sums of their positions. */
  readonly unbalanced: number;
}

interface Ended {
  readonly positions: string;
  readonly count: number;
  readonly unbalanced: number;
}

/** @param script The built `tradingPaper.ts`. */
export async function crashPaper(options: {
  kills: number;
  script: string;
  random: () => number;
  progress?: (kills: number) => void;
}): Promise<PaperCrashResult> {
  const result = { kills: 0, sessions: 0, positions: 0, differing: 0, unbalanced: 0 };
  while (result.kills < options.kills) {
    const seed = `crash ${result.sessions}`;
    const whole = await session(seed, { ...options, kills: 0 });
    const killed = await session(seed, {
      ...options,
      kills: Math.min(KILLS_A_SESSION, options.kills - result.kills),
    });
    result.kills += killed.kills;
    result.sessions++;
    result.positions += killed.ended.count;
    if (killed.ended.positions !== whole.ended.positions) result.differing++;
    result.unbalanced += killed.ended.unbalanced + whole.ended.unbalanced;
    options.progress?.(result.kills);
  }
  return result;
}

async function session(
  seed: string,
  { kills, script, random }: { kills: number; script: string; random: () => number },
): Promise<{ kills: number; ended: Ended }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'underround-paper-'));
  let killed = 0;
  for (;;) {
    const child = spawn(process.execPath, [script, dataDir, join(dataDir, 'notes'), seed], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit') as Promise<[number | null]>;
    if (killed < kills) {
      if (random() >= EARLY_SHARE) await Promise.race([once(child.stdout, 'data'), exit]);
      await Promise.race([sleep(clock, random() * LIFE_MS_MAX), exit]);
      if (child.kill('SIGKILL')) killed++;
    }
    const [code] = await exit;
    if (code === 0) break;
    if (code !== null) throw new Error(`the trading process ended with ${code}`);
  }
  const ended = await read(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
  return { kills: killed, ended };
}

async function read(dataDir: string): Promise<Ended> {
  const db = await openControlDatabase({ dataDir, databaseUrl: null });
  const strategies = await db.selectFrom('paper_strategies').selectAll().orderBy('name').execute();
  const rows = await db.selectFrom('paper_positions').selectAll().orderBy('opened_ms').execute();
  await db.destroy();
  let unbalanced = 0;
  const byName = strategies.map((strategy) => {
    const own = rows.filter((row) => row.paper_strategy_id === strategy.paper_strategy_id);
    const { pnl, open, closed } = sumsOf(own);
    const balances =
      strategy.net_pnl_micro === pnl &&
      strategy.open_positions === open &&
      strategy.closed_positions === closed;
    if (!balances) unbalanced++;
    // Ids are random in every run.
    return [strategy.name, own.map((row) => ({ ...row, position_id: '', paper_strategy_id: '' }))];
  });
  return { positions: JSON.stringify(byName), count: rows.length, unbalanced };
}
