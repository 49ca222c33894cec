import { InvalidInputError } from '../runtime/errors.ts';
import { isJobDataset } from '../schema/export.ts';
import { optionWord } from './optionWord.ts';

/** The options that choose rows. */
export interface ExportFilters {
  readonly marketId?: string;
  readonly ticker?: string;
  readonly eventType?: string;
  readonly source?: string;
  readonly venue?: string;
  readonly jobId?: string;
  readonly start?: string;
  readonly since?: string;
  readonly end?: string;
}

const OF_ASSETS: readonly string[] = ['underlying', 'perp_depth'];
const isOfMarkets = (dataset: string) => !OF_ASSETS.includes(dataset) && !isJobDataset(dataset);
const hasRange = (dataset: string) => dataset !== 'job_cells';
/** The datasets that each filter applies to. */
const APPLIES: Readonly<Record<keyof ExportFilters, (dataset: string) => boolean>> = {
  marketId: isOfMarkets,
  ticker: (dataset) => !isJobDataset(dataset),
  eventType: isOfMarkets,
  source: (dataset) => dataset === 'underlying',
  venue: (dataset) => dataset === 'perp_depth',
  jobId: isJobDataset,
  start: hasRange,
  since: hasRange,
  end: hasRange,
};

/**
 * Refuses a filter that would choose nothing: the export would have more rows than were asked for.
 * @param name The name of the export in the message.
 * @throws {InvalidInputError}
 */
export function requireApplicable(
  datasets: readonly string[],
  options: ExportFilters,
  name = datasets.join(','),
): void {
  const filters = Object.keys(APPLIES) as (keyof ExportFilters)[];
  const named = filters.filter((filter) => options[filter] !== undefined);
  const unused = named.filter((filter) => !datasets.some(APPLIES[filter]));
  if (unused.length > 0) {
    const [verb, them] = unused.length === 1 ? ['does', 'it'] : ['do', 'them'];
    throw new InvalidInputError(
      `${unused.map(optionWord).join(' and ')} ${verb} not apply to ${name}: leave ${them} out`,
    );
  }
  const ofSeries = named.filter((filter) => filter === 'ticker' || filter === 'eventType');
  if (options.marketId !== undefined && ofSeries.length > 0) {
    throw new InvalidInputError(
      `--market-id names the markets: leave ${ofSeries.map(optionWord).join(' and ')} out`,
    );
  }
}
