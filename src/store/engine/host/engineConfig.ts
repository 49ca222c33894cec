import { existsSync } from 'node:fs';
import { replaceFile } from '../../../runtime/durableFile.ts';
import type { Logger } from '../../../runtime/log.ts';

const MARK_CACHE_BYTES = 256 * 1024 * 1024;
/**
 * How long the engine keeps parts that a merge replaced; chDB's own default is 0. In that time the merged part is read
 * completely and the kernel writes it to the disk (within 35 s), so a power cut finds it there.
 */
const OLD_PARTS_SECONDS = 120;

/**
 * About how many parts of similar size are merged at once. The engine counts every part as at least 5 MiB; ours have a
 * few kilobytes. At its default of 5 it merges several parts of a megabyte every few seconds. Measured with 7 inserts
 * of 120 books a second: 33 merges of 340,000 rows at 5, 18 of 187,000 at 10, and a fifth less CPU in all.
 */
const MERGE_SELECTOR_BASE = 10;

/**
 * Idle threads that the engine keeps for the next query; its own default is 1,000. Each keeps three files of `/proc` open,
 * and the stack and allocator caches of what it last ran: after some busy minutes it had 180 threads and 550 files.
 */
const IDLE_THREADS_MAX = 64;

interface EngineLimits {
  readonly memoryMib: number;
  /** The engine starts no insert and no merge that would leave less free space than this. */
  readonly keepFreeBytes: number;
}

/**
 * Writes the engine's configuration. An existing file is kept where a full disk leaves no room for a new one. The
 * engine's own defaults are 0.9 of the machine's memory, 5 GiB of mark cache and no reserved free space.
 */
export async function writeEngineConfig(path: string, limits: EngineLimits, log: Logger): Promise<void> {
  try {
    await replaceFile(path, engineConfig(limits));
  } catch (error) {
    if (!existsSync(path)) throw error;
    log.warn({ err: error, path }, 'store.host.config_kept');
  }
}

function engineConfig({ memoryMib, keepFreeBytes }: EngineLimits): string {
  return `<clickhouse>
  <max_server_memory_usage>${memoryMib * 1024 * 1024}</max_server_memory_usage>
  <mark_cache_size>${MARK_CACHE_BYTES}</mark_cache_size>
  <max_thread_pool_free_size>${IDLE_THREADS_MAX}</max_thread_pool_free_size>
  <timezone>UTC</timezone>
  <storage_configuration>
    <disks>
      <default><keep_free_space_bytes>${keepFreeBytes}</keep_free_space_bytes></default>
    </disks>
  </storage_configuration>
  <merge_tree>
    <merge_selector_base>${MERGE_SELECTOR_BASE}</merge_selector_base>
    <old_parts_lifetime>${OLD_PARTS_SECONDS}</old_parts_lifetime>
    <min_free_disk_bytes_to_perform_insert>${keepFreeBytes}</min_free_disk_bytes_to_perform_insert>
  </merge_tree>
</clickhouse>
`;
}
