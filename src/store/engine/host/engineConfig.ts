import { existsSync } from 'node:fs';
import type { Logger } from '../../../runtime/log.ts';
import { replaceFile } from '../../journal/durableFile.ts';

const MARK_CACHE_BYTES = 256 * 1024 * 1024;
/**
 * How long the engine keeps the parts that a merge replaced; chDB's own default is 0. The merged part is read whole in
 * that time, and power cuts find it on the disk: the kernel writes what a merge left in memory within 35 s.
 */
const OLD_PARTS_SECONDS = 120;

/**
 * About how many parts of one size are merged at once. The engine counts every part as 5 MiB at least, and ours have a
 * few kilobytes: at its default of 5 it merges some parts of a megabyte every few seconds. Measured with 7 inserts of 120
 * books a second: 33 merges of 340,000 rows at 5, 18 of 187,000 at 10, and a fifth less CPU in all.
 */
const MERGE_SELECTOR_BASE = 10;

export interface EngineLimits {
  readonly memoryMib: number;
  /** The engine begins no insert and no merge that would leave less free space than this. */
  readonly keepFreeBytes: number;
}

/**
 * Writes the engine's configuration. One that is there already is used where a full disk leaves no room for a new one.
 * The engine's own defaults are 0.9 of the machine's memory, 5 GiB of mark cache and no free space at all.
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
