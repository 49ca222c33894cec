/** Measures one part once and sends its figures to the process that started this one. Its argument names the part. */
import { PARTS } from './parts.ts';

const load = PARTS[process.argv[2] ?? ''];
if (load === undefined) throw new RangeError(`no part ${process.argv[2]}`);
const { run } = await load();
// Some parts leave servers open: it ends when the figures have been read.
process.once('disconnect', () => process.exit(0));
process.send?.(await run());
