/** The description of an exported file: beside a file of the command line, and the answer of `/v1/export/manifest`. */
import { z } from 'zod';
import { PERP_VENUES, UNDERLYING_SOURCES } from '../events.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS } from '../export.ts';
import { EVENT_TYPES, TICKERS, UNKNOWN } from '../market.ts';

const time = z.iso.datetime({ offset: true, precision: 3 });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

const columnShape = z.strictObject({
  name: z.string(),
  type: z
    .enum(['time', 'text', 'bool', 'float', 'uint', 'levels', 'pairs'])
    .describe('`levels`: objects of price and size, best first; `pairs`: lists of price and size'),
  nullable: z.boolean(),
  unit: z.string().nullable(),
});

const gapShape = z
  .strictObject({
    market_id: z.string(),
    gap_id: z.string(),
    start: time,
    end: time.nullable().describe('Null while the gap is open'),
    start_received: time.nullable(),
    end_received: time.nullable(),
    cause: z.string(),
    feed: z.string(),
    repaired_by: z.string().nullable(),
    known_time: time.nullable(),
    known_seq: z.int().nullable(),
    seq: z.int(),
  })
  .describe('A row of the dataset `gaps`');

export const exportManifestShape = z.strictObject({
  manifest_version: z.literal(1),
  file: z.strictObject({
    name: z.string(),
    format: z.enum(EXPORT_FORMATS),
    bytes: count.nullable().describe('Null in an answer of the API, which does not write the file'),
    sha256: sha256.nullable().describe('Of the file; null in an answer of the API'),
  }),
  rows: count,
  data_sha256: sha256.describe(
    'SHA-256 over the SHA-256 of each row in order. A row is its values in ClickHouse’s RowBinary, in the order of `columns`; so it is equal in all formats.',
  ),
  columns: z.array(columnShape),
  asked: z.strictObject({
    dataset: z.enum(EXPORT_DATASETS),
    market_ids: z.array(z.string()).nullable(),
    ticker: z.enum([...TICKERS, UNKNOWN]).nullable(),
    event_type: z.enum([...EVENT_TYPES, UNKNOWN]).nullable(),
    source: z.enum(UNDERLYING_SOURCES).nullable(),
    venue: z.enum(PERP_VENUES).nullable(),
    job_id: z.string().optional().describe('Of `job_trades` and `job_cells` alone'),
    start: time.nullable(),
    end: time.nullable(),
  }),
  gaps: z.array(gapShape).describe('Gaps of the exported markets that overlap the range'),
  made_by: z.strictObject({
    release: z.string(),
    engine: z.string().describe('Version of the ClickHouse engine'),
  }),
});
export type ExportManifest = z.infer<typeof exportManifestShape>;
