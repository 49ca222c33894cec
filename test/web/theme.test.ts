import { DEFAULT_THEME } from '@mantine/core';
import { expect, it } from 'vitest';
import { resolveColours } from '../../web/src/theme.ts';

/** WCAG 2: normal text needs at least this ratio to its background. */
const RATIO_MIN = 4.5;

it.each([
  ['light', '#ffffff'],
  ['dark', DEFAULT_THEME.colors.dark[6]],
] as const)('placeholders and secondary texts can be read in a %s field', (scheme, field) => {
  const colours: Readonly<Record<string, string | undefined>> = resolveColours(DEFAULT_THEME)[scheme];
  for (const name of ['--mantine-color-placeholder', '--mantine-color-dimmed']) {
    expect(contrast(colours[name] ?? field, field), name).toBeGreaterThanOrEqual(RATIO_MIN);
  }
});

/** Of two colours such as `#5b6570`. */
function contrast(text: string, ground: string): number {
  const [darker = 0, lighter = 0] = [luminance(text), luminance(ground)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const share = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
