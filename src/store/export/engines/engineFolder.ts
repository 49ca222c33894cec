/** A folder for another backtest engine: every market of the selection, both tokens. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { counted } from '../../../runtime/counted.ts';
import { StoreUnavailableError } from '../../../runtime/errors.ts';
import type { ExportRange, MarketSelection } from '../../../schema/export.ts';
import { eventsRevision, type TokenName } from '../../queries/engineEvents.ts';
import { listSource } from '../../queries/exports.ts';
import { where } from '../../queries/sql.ts';
import type { StoreReader } from '../../reader.ts';
import { exportAlone } from '../exportAlone.ts';
import {
  type AskedEvents,
  type EngineFile,
  type EngineMarket,
  hasListedBytes,
  listedFiles,
  listFile,
} from './engineFile.ts';
import { writeHftbacktest } from './hftbacktest.ts';
import { writeNautilus } from './nautilusCatalog.ts';

const WRITERS = { hftbacktest: writeHftbacktest, nautilus: writeNautilus } as const;
export type EngineName = keyof typeof WRITERS;
export const ENGINES = Object.keys(WRITERS) as EngineName[];

interface FolderOptions {
  readonly engine: EngineName;
  readonly markets: MarketSelection;
  /** Of markets: their windows overlap it. A market's file is always complete. */
  readonly range: ExportRange;
  /** Rows up to this arrival number: `recordedState`. */
  readonly upToSeq: number;
  readonly out: string;
  readonly signal: AbortSignal;
  readonly onFile: (line: string) => void;
}

/** Rows that are removed, or arrive late, while a file is written change it; then it is written again. */
const TRIES_MAX = 3;
const TOKENS: readonly TokenName[] = ['yes', 'no'];

interface FolderResult {
  readonly files: number;
  /** Of these files, ones that were there and whose market has not changed. */
  readonly kept: number;
}

/**
 * Writes the files of all selected markets. Keeps those whose market has not changed.
 * @throws {InvalidInputError} If another process exports into the folder, or its disk is full.
 */
export async function writeEngineFolder(store: StoreReader, options: FolderOptions): Promise<FolderResult> {
  return await exportAlone(options.out, () => writeMarkets(store, options));
}

async function writeMarkets(store: StoreReader, options: FolderOptions): Promise<FolderResult> {
  const { out, upToSeq, signal, onFile } = options;
  const listed = [...(await listedFiles(out)).values()];
  const result = { files: 0, kept: 0 };
  for (const market of await marketsOf(store, options)) {
    for (const token of TOKENS) {
      const revision = await revisionOf(store, { market, upToSeq, signal });
      const earlier = listed.filter((file) => file.market_id === market.market_id && file.token === token);
      const known = earlier.filter((file) => file.revision === revision);
      const kept = known.length > 0 && (await areWhole(out, known));
      const files = kept ? known : await writeToken(store, { ...options, market, token, earlier });
      result.files += files.length;
      if (kept) result.kept += files.length;
      for (const { path, rows } of files) {
        onFile(`${kept ? 'kept' : 'wrote'} ${join(out, path)}: ${counted(rows, 'row')}`);
      }
    }
  }
  return result;
}

async function areWhole(out: string, files: readonly EngineFile[]): Promise<boolean> {
  for (const file of files) if (!(await hasListedBytes(out, file))) return false;
  return true;
}

async function writeToken(
  store: StoreReader,
  asked: FolderOptions & { market: EngineMarket; token: TokenName; earlier: readonly EngineFile[] },
): Promise<EngineFile[]> {
  const { engine, market, upToSeq, token, out, signal, earlier } = asked;
  const state = { market, upToSeq, signal };
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const revision = await revisionOf(store, state);
    const pathOf = (path: string) => join(out, path);
    const parts = await WRITERS[engine](store, { ...state, token, pathOf });
    if ((await revisionOf(store, state)) !== revision) continue;
    const { yes_token_id: yes, no_token_id: no, seq: _, question: _question, ...shown } = market;
    const files = parts.map((part) => ({
      ...part,
      revision,
      token,
      token_id: token === 'yes' ? yes : no,
      ...shown,
    }));
    for (const file of files) await listFile(out, file);
    // The times in a name may be other ones now.
    const paths = new Set(files.map(({ path }) => path));
    for (const { path } of earlier) if (!paths.has(path)) await rm(pathOf(path), { force: true });
    return files;
  }
  throw new StoreUnavailableError(
    `${market.market_id}: its rows changed while they were written, ${TRIES_MAX} times`,
  );
}

async function revisionOf(
  store: StoreReader,
  { market, upToSeq, signal }: Pick<AskedEvents, 'market' | 'upToSeq' | 'signal'>,
): Promise<string> {
  const { query, params } = eventsRevision({ marketId: market.market_id, upToSeq });
  const [row] = await store.rows<{ revision: string }>(query, { ...params }, { signal });
  return `${row?.revision ?? ''} ${market.seq}`;
}

async function marketsOf(
  store: StoreReader,
  { markets, range, signal }: FolderOptions,
): Promise<EngineMarket[]> {
  const { conditions, params } = listSource('markets', markets, range);
  const ms = (column: string, name: string) => `toUnixTimestamp64Milli(t.${column}) AS ${name}`;
  return await store.rows<EngineMarket>(
    `SELECT t.market_id AS market_id, t.slug AS slug, t.question AS question, t.ticker AS ticker,
       t.event_type AS event_type, t.yes_token_id AS yes_token_id, t.no_token_id AS no_token_id,
       ${ms('start_time', 'start_ms')}, ${ms('end_time', 'end_ms')}, t.tick_size / 10000 AS tick_size,
       t.taker_fee_rate AS taker_fee_rate, t.taker_fee_exponent AS taker_fee_exponent, t.outcome AS outcome,
       t.payout_yes AS payout_yes, t.seq AS seq
     FROM markets AS t FINAL ${where(conditions)} ORDER BY t.start_time, t.market_id`,
    { ...params },
    { signal },
  );
}
