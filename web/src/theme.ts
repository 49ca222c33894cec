import { type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'cyan',
  // The shades that text on them and around them can be read on (WCAG AA).
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
});

/** Fills a badge that warns: white text cannot be read on any orange of the kit (WCAG AA). */
export const WARNING_COLOUR = '#9a3412';

/** Hovered, filled things: the kit would make them lighter than their text can be read on. */
const HOVERED = {
  '--mantine-primary-color-filled-hover': '#085a6a',
  '--mantine-color-cyan-filled-hover': '#085a6a',
};

/** What of the kit's own colours is not readable for everybody. */
export const resolveColours: CSSVariablesResolver = () => ({
  variables: {},
  light: { ...HOVERED, '--mantine-color-dimmed': '#5b6570', '--mantine-color-error': '#c92a2a' },
  dark: {
    ...HOVERED,
    '--mantine-color-dimmed': '#a6afb8',
    '--mantine-color-body': '#12161b',
    '--mantine-color-error': '#ff8787',
  },
});
