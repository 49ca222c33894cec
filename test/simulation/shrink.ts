import type { CheckName } from './checks/check.ts';
import { runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';

const SPAN_MS_MIN = 5_000;

/** The smallest scenario found that violates the same check: fewer faults, fewer markets, a shorter span. */
export async function shrink(scenario: Scenario, check: CheckName): Promise<Scenario> {
  const fails = async (tried: Scenario) =>
    (await runScenario(tried)).violations.some((violation) => violation.check === check);
  let smallest = scenario;
  for (let at = smallest.faults.length - 1; at >= 0; at--) {
    const fewer = { ...smallest, faults: smallest.faults.filter((_, index) => index !== at) };
    if (await fails(fewer)) smallest = fewer;
  }
  for (let markets = 1; markets < smallest.markets; markets++) {
    const fewer = { ...smallest, markets };
    if (!(await fails(fewer))) continue;
    smallest = fewer;
    break;
  }
  for (let spanMs = SPAN_MS_MIN; spanMs < smallest.spanMs; spanMs *= 2) {
    const shorter = { ...smallest, spanMs };
    if (!(await fails(shorter))) continue;
    smallest = shorter;
    break;
  }
  return smallest;
}
