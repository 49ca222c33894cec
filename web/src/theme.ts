import { type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'cyan',
  // Shades with enough contrast to the text on and around them (WCAG AA).
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
});

/** Background of a warning badge: white text has too little contrast on every orange of the kit (WCAG AA). */
export const WARNING_COLOUR = '#9a3412';

/** Hover colour of filled elements: the kit's is too light for their text. */
const HOVERED = {
  '--mantine-primary-color-filled-hover': '#085a6a',
  '--mantine-color-cyan-filled-hover': '#085a6a',
};

/** Replaces colours of the kit with too little contrast. */
export const resolveColours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...HOVERED,
    '--mantine-color-dimmed': '#5b6570',
    '--mantine-color-placeholder': '#5b6570',
    '--mantine-color-error': '#c92a2a',
  },
  dark: {
    ...HOVERED,
    '--mantine-color-dimmed': '#a6afb8',
    '--mantine-color-placeholder': '#a6afb8',
    '--mantine-color-body': '#12161b',
    '--mantine-color-error': '#ff8787',
  },
});
