import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordSink,
  TradeRecord,
  UnderlyingRecord,
} from '../schema/records.ts';
import type { Publisher } from './bus.ts';

/** Writes records to the store, then publishes them on the bus: only accepted records are published. */
export class PublishingSink implements RecordSink {
  readonly #store: RecordSink;
  readonly #bus: Publisher;

  constructor(store: RecordSink, bus: Publisher) {
    this.#store = store;
    this.#bus = bus;
  }

  book(record: BookRecord): void {
    this.#store.book(record);
    this.#bus.publish('book', record);
  }

  quote(record: QuoteRecord): void {
    this.#store.quote(record);
    this.#bus.publish('quote', record);
  }

  trade(record: TradeRecord): void {
    this.#store.trade(record);
    this.#bus.publish('trade', record);
  }

  underlying(record: UnderlyingRecord): void {
    this.#store.underlying(record);
    this.#bus.publish('underlying', record);
  }

  perpDepth(record: PerpDepthRecord): void {
    this.#store.perpDepth(record);
    this.#bus.publish('perpDepth', record);
  }

  market(record: MarketRecord): void {
    this.#store.market(record);
    this.#bus.publish('market', record);
  }

  gap(record: GapRecord): void {
    this.#store.gap(record);
    this.#bus.publish('gap', record);
  }
}
