/** The stress of a backtest: outcomes that the venue could have given to some markets. */
import { z } from 'zod';
import type { Stress } from '../strategy.ts';
import { type JsonType, NestedProblems, requiredMember } from './body.ts';
import { jsonNumber, jsonObject } from './bodyParts.ts';
import { Invalid } from './types.ts';

/** A year. */
const DELAY_HOURS_MAX = 8_760;
const share = jsonNumber({ ge: 0, le: 1 });

const members = jsonObject({
  void_share: requiredMember(share, 'Share of the markets, drawn by seed, that are annulled'),
  disputed_share: requiredMember(
    share,
    'Share of the markets whose payout is late; none of them is annulled',
  ),
  dispute_delay_hours: requiredMember(
    jsonNumber({ ge: 0, le: DELAY_HOURS_MAX }),
    'How much later a disputed market pays',
  ),
});

export const stressType: JsonType<Stress> = {
  schema: members.schema,
  parse(value) {
    const parsed = members.parse(value);
    if (parsed instanceof Invalid || parsed instanceof NestedProblems) return parsed;
    if (parsed.void_share + parsed.disputed_share <= 1) return parsed;
    return new NestedProblems([
      {
        ...{ type: 'value_error', loc: ['disputed_share'], input: parsed.disputed_share },
        msg: 'Value error, void_share and disputed_share must be at most 1 together',
        ctx: { error: {} },
      },
    ]);
  },
};

export const stressShape = z.strictObject({
  void_share: z.number(),
  disputed_share: z.number(),
  dispute_delay_hours: z.number(),
});
