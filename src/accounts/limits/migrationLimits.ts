import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * Creates the shared rate counters on PostgreSQL. An SQLite database belongs to one service, which counts in memory.
 *
 * The table is unlogged, so that a request writes nothing to the write-ahead log. After a crash of PostgreSQL it is
 * empty, and all clients start with whole quotas.
 */
export async function createRateCounters(db: Kysely<unknown>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  await db.schema
    .createTable('rate_counters')
    .modifyFront(sql`unlogged`)
    .addColumn('client', 'text', (column) => column.primaryKey())
    .addColumn('times_ms', sql`double precision[]`, (column) => column.notNull())
    .addColumn('ends_ms', 'double precision', (column) => column.notNull())
    .execute();
  await COUNT_REQUESTS.execute(db);
}

/**
 * Counts requests of several clients in one statement. `asked` is a list of `{client, requests, quotas: [[requests,
 * window in ms]]}`, sorted by client, so that two statements never wait for each other's rows in a circle. Each client's
 * row is locked until its new times are written, so the times of all processes rise.
 *
 * `forced_ms` replaces the server's clock in tests. For each client: its number in the list, the time of the count,
 * requests admitted, and for each quota the requests counted before, the time of the oldest of them, and the time of
 * the request that must leave the window before another is admitted.
 */
const COUNT_REQUESTS = sql`
create function count_requests(asked jsonb, forced_ms double precision)
returns table (place integer, now_ms double precision, admitted integer,
  used integer[], oldest_ms double precision[], freeing_ms double precision[])
language plpgsql as $$
declare
  entry record;
  quota jsonb;
  kept double precision[];
  kept_count integer;
  window_ms double precision;
  longest_ms double precision;
  low integer;
  high integer;
  middle integer;
  first_kept integer;
  after_count integer;
begin
  for entry in
    select item.ordinality::integer as place, item.value->>'client' as client,
      (item.value->>'requests')::integer as requests, item.value->'quotas' as quotas
    from jsonb_array_elements(asked) with ordinality as item order by item.ordinality
  loop
    kept := null;
    if entry.requests = 0 then
      select counter.times_ms into kept from rate_counters as counter where counter.client = entry.client;
    else
      loop
        select counter.times_ms into kept from rate_counters as counter
          where counter.client = entry.client for update;
        exit when found;
        insert into rate_counters (client, times_ms, ends_ms) values (entry.client, '{}', 0)
          on conflict do nothing;
      end loop;
    end if;
    kept := coalesce(kept, '{}');
    kept_count := cardinality(kept);
    now_ms := greatest(coalesce(forced_ms, extract(epoch from clock_timestamp()) * 1000), kept[kept_count]);
    admitted := entry.requests;
    used := '{}';
    oldest_ms := '{}';
    longest_ms := 0;
    first_kept := kept_count + 1;
    for quota in select value from jsonb_array_elements(entry.quotas) loop
      window_ms := (quota->>1)::double precision;
      low := 1;
      high := kept_count + 1;
      while low < high loop
        middle := (low + high) / 2;
        if window_ms - (now_ms - kept[middle]) > 0 then high := middle; else low := middle + 1; end if;
      end loop;
      used := used || (kept_count - low + 1);
      oldest_ms := oldest_ms || kept[low];
      admitted := least(admitted, greatest(0, (quota->>0)::integer - (kept_count - low + 1)));
      longest_ms := greatest(longest_ms, window_ms);
      first_kept := least(first_kept, low);
    end loop;
    if admitted > 0 then
      update rate_counters as counter
        set times_ms = kept[first_kept:kept_count] || array_fill(now_ms, array[admitted]),
          ends_ms = now_ms + longest_ms
        where counter.client = entry.client;
    end if;
    freeing_ms := '{}';
    for quota in select value from jsonb_array_elements(entry.quotas) loop
      after_count := kept_count + admitted - (quota->>0)::integer + 1;
      freeing_ms := freeing_ms || case
        when after_count > kept_count then now_ms
        when after_count < 1 then null
        else kept[after_count] end;
    end loop;
    place := entry.place;
    return next;
  end loop;
end $$`;
